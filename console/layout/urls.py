from django.urls import path

from console.layout import views

urlpatterns = [path("", views.home, name="home")]
