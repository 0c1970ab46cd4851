"""The Django app `console.audit`."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "console.audit"

    def ready(self) -> None:
        from console.audit import receivers  # noqa: F401  (connects them)
