"""The Django app `console.alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "console.alerts"
