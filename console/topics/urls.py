from django.urls import path

from console.topics import views

urlpatterns = [
    path("c/<slug:cluster>/topics", views.index, name="topics"),
    path("c/<slug:cluster>/topics/<str:topic>", views.overview, name="topic"),
    path("c/<slug:cluster>/topics/<str:topic>/config", views.config, name="topic-config"),
    path("c/<slug:cluster>/topics/<str:topic>/consumers", views.consumers, name="topic-consumers"),
]
