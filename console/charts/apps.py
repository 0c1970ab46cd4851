"""The Django app `console.charts`."""

from django.apps import AppConfig


class ChartsConfig(AppConfig):
    name = "console.charts"
