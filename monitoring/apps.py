"""The Django app `monitoring`: the one place of its models."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Bind `@shared_task` to our Celery application in every process that sends one."""
        import monitoring.celery  # noqa: F401
