"""What is done for the audit log from time to time (queue `history`)."""

from celery import shared_task

from console.audit import services


@shared_task(name="console.audit.tidy", ignore_result=True)
def tidy() -> None:
    services.tidy()
