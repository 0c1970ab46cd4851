"""The Django app `monitoring`. All its models are imported in models.py."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Bind `@shared_task` to the project's Celery application in every process."""
        import monitoring.celery  # noqa: F401
