from django.urls import path

from console.search import views

urlpatterns = [path("search", views.index, name="search")]
