"""The Django app `console.audit`."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "console.audit"
