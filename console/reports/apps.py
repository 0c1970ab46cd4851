"""The Django app `console.reports`."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "console.reports"
