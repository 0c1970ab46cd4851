from django.urls import path

from console.brokers import views

urlpatterns = [
    path("c/<slug:cluster>/brokers", views.index, name="brokers"),
    path("c/<slug:cluster>/brokers/<int:broker>", views.detail, name="broker"),
    path("c/<slug:cluster>/brokers/<int:broker>/config", views.config, name="broker-config"),
    path(
        "c/<slug:cluster>/brokers/<int:broker>/config/<str:name>",
        views.setting,
        name="broker-setting",
    ),
]
