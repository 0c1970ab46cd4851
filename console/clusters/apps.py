"""The Django app `console.clusters`."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "console.clusters"
