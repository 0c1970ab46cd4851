"""The Django app `console.dashboard`."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "console.dashboard"
