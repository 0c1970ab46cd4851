"""The Django app `console.topics`."""

from django.apps import AppConfig


class TopicsConfig(AppConfig):
    name = "console.topics"
