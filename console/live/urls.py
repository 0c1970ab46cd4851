from django.urls import path

from console.live import views

urlpatterns = [path("c/<slug:cluster>/live-status", views.status, name="live-status")]
