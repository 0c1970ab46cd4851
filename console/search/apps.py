"""The Django app `console.search`: the search over all clusters, and the command palette."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "console.search"
