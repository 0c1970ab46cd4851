from django.urls import path

from console.saved_queries import views

urlpatterns = [
    path("c/<slug:cluster>/saved-queries/save", views.save, name="saved-query-save"),
    path("c/<slug:cluster>/saved-queries/<int:query>", views.edit, name="saved-query"),
    path(
        "c/<slug:cluster>/saved-queries/<int:query>/delete", views.delete, name="saved-query-delete"
    ),
]
