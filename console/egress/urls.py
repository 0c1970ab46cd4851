from django.urls import path

from console.egress import views

urlpatterns = [
    path("egress", views.index, name="egress"),
    path("egress/<int:target>/remove", views.remove, name="egress-remove"),
]
