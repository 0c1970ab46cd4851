from django.urls import path

from console.clusters import views

urlpatterns = [
    path("clusters", views.index, name="clusters"),
    path("clusters/add", views.add, name="cluster-add"),
    path("clusters/<slug:slug>/edit", views.edit, name="cluster-edit"),
    path("clusters/<slug:slug>/remove", views.remove, name="cluster-remove"),
]
