"""The Django app `console.audit`."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "console.audit"

    def ready(self) -> None:
        from console.audit import sign_in_and_account_entries  # noqa: F401  (connects receivers)
