"""The Django app `console.stack`."""

from django.apps import AppConfig


class StackConfig(AppConfig):
    name = "console.stack"
