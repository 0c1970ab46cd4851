"""The WebSocket addresses."""

from django.urls import path

from console.live.consumers import ClusterConsumer

urlpatterns = [path("ws/c/<slug:cluster>/", ClusterConsumer.as_asgi())]
