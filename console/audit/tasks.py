"""Periodic tasks of the audit log (queue `history`)."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from console.audit.models import AuditEntry

_REFUSED_SIGN_INS_KEPT = timedelta(days=90)


@shared_task
def drop_refused_sign_ins() -> None:
    """Delete old refused sign-ins: anybody can cause them, so their number is not limited."""
    old = timezone.now() - _REFUSED_SIGN_INS_KEPT
    AuditEntry.objects.drop_refused_sign_ins(before=old)
