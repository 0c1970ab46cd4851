"""The Django app `console.saved_queries`."""

from django.apps import AppConfig


class SavedQueriesConfig(AppConfig):
    name = "console.saved_queries"
