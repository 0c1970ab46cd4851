"""The Django app `console.records`."""

from django.apps import AppConfig


class RecordsConfig(AppConfig):
    name = "console.records"
    label = "console_messages"  # has its former name, messages, as migrations and tables do
