from django.urls import path

from console.quotas import views

urlpatterns = [
    path("c/<slug:cluster>/quotas", views.index, name="quotas"),
    path("c/<slug:cluster>/quotas/edit", views.edit, name="quota-edit"),
]
