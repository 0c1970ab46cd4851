"""The Django app `console.egress`."""

from django.apps import AppConfig


class EgressConfig(AppConfig):
    name = "console.egress"
