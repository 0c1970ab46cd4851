from django.urls import path

from console.brokers import logger_views, request_views, views

_BROKER = "c/<slug:cluster>/brokers/<int:broker>"

urlpatterns = [
    path("c/<slug:cluster>/brokers", views.index, name="brokers"),
    path("c/<slug:cluster>/brokers/<int:broker>", views.detail, name="broker"),
    path("c/<slug:cluster>/brokers/<int:broker>/config", views.config, name="broker-config"),
    path(
        "c/<slug:cluster>/brokers/<int:broker>/config/<str:name>",
        views.setting,
        name="broker-setting",
    ),
    path(f"{_BROKER}/requests", request_views.index, name="broker-requests"),
    path(f"{_BROKER}/loggers", logger_views.index, name="broker-loggers"),
    path(f"{_BROKER}/loggers/<str:name>", logger_views.level, name="broker-logger"),
]
