"""The Django app `console.brokers`."""

from django.apps import AppConfig


class BrokersConfig(AppConfig):
    name = "console.brokers"

    def ready(self) -> None:
        from console.brokers import tables
        from console.live.registry import Fragment, register

        register("brokers", Fragment("broker.view", "brokers/live.html", tables.brokers))
