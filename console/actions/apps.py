"""The Django app `console.actions`."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "console.actions"

    def ready(self) -> None:
        from console.actions.reason_texts import TEXTS
        from monitoring.reasons import add_texts

        add_texts(TEXTS)
