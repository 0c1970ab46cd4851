"""The Django app `console.demo`."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "console.demo"
