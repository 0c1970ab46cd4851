"""The Django app `console.quotas`."""

from django.apps import AppConfig


class QuotasConfig(AppConfig):
    name = "console.quotas"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.quotas.actions.change_quotas import ChangeQuotas

        register(ChangeQuotas())
