from django.urls import path

from console.audit import views

urlpatterns = [
    path("audit", views.index, name="audit"),
    path("c/<slug:cluster>/audit", views.of_cluster, name="cluster-audit"),
]
