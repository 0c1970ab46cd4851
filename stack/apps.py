"""The Django app `stack`."""

from django.apps import AppConfig


class StackConfig(AppConfig):
    name = "stack"
