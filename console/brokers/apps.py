"""The Django app `console.brokers`."""

from django.apps import AppConfig


class BrokersConfig(AppConfig):
    name = "console.brokers"
