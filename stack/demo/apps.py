"""The Django app `stack.demo`."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "stack.demo"
