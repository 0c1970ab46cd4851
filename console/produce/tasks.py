"""The Celery task that deletes the contents of records that no plan needs any more."""

from celery import shared_task
from django.utils import timezone

from console.produce.models import KEPT, ROWS_KEPT, CopyState, WaitingRecords


@shared_task
def delete_old_contents() -> None:
    now = timezone.now()
    old = WaitingRecords.objects.filter(created_at__lt=now - KEPT)
    old.exclude(encrypted="").update(encrypted="", acknowledged={})
    WaitingRecords.objects.filter(created_at__lt=now - ROWS_KEPT).delete()
    CopyState.objects.filter(created_at__lt=now - ROWS_KEPT).delete()
