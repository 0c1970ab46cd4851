from django.urls import path

from console.dashboard import views

urlpatterns = [
    path("c/<slug:cluster>/", views.overview, name="dashboard"),
    path("c/<slug:cluster>/changes", views.changes, name="changes"),
]
