"""The Django app `console.actions`."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "console.actions"

    def ready(self) -> None:
        from console.actions.plan_outcome_texts import TEXTS
        from monitoring.error_reason import add_texts

        add_texts(TEXTS)
