"""Periodic tasks of the audit log (queue `history`)."""

from celery import shared_task

from console.audit import services


@shared_task
def drop_refused_sign_ins() -> None:
    services.drop_refused_sign_ins()
