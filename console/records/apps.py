"""The Django app `console.records`."""

from django.apps import AppConfig


class RecordsConfig(AppConfig):
    name = "console.records"
    label = "console_messages"  # the app's former name, which migrations and tables have
