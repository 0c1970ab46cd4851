"""The Django app `console.actions`."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "console.actions"
