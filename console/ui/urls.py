from django.urls import path

from console.ui import views

urlpatterns = [
    path("ui", views.components, name="ui"),
    path("units", views.units, name="units"),
]
