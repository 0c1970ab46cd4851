"""The Django app `console.api`."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "console.api"
