"""The Django app `console.ui`."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    name = "console.ui"
