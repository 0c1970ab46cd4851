"""`WaitingRecords`: the contents of a plan that writes records, until it was applied.

Plans and audit rows have only sizes and a SHA-256. The contents are in a table of their own, so
that no page, log or audit row of plans can show them, and encrypted, since backups of the database
have them too. They are deleted when the plan ends, or after KEPT (tasks.py); the offsets stay.
"""

import uuid
from datetime import timedelta

from django.db import models

from console.produce import records_as_text
from monitoring.encryption import EncryptedField, decrypt, encrypt
from monitoring.gateway.producing import NewRecord, WriteOutcome

KEPT = timedelta(hours=1)  # contents that were never applied, or of a plan that may be resumed
ROWS_KEPT = timedelta(days=91)  # longer than the plans


class WaitingRecords(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    encrypted = EncryptedField()  # "" = deleted
    # Partition (as text) → [first offset, last offset, number] of what was acknowledged.
    written = models.JSONField(default=dict)
    # Key of an item that failed in part → the numbers of its records that were acknowledged.
    acknowledged = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return str(self.pk)

    @classmethod
    def store(cls, pk: uuid.UUID, records: list[NewRecord]) -> "WaitingRecords":
        """Store records. Raises SecretUnreadable."""
        return cls.objects.create(pk=pk, encrypted=encrypt(records_as_text.dumps(records)))

    def records(self) -> list[NewRecord]:
        """The records; [] if they were deleted. Raises SecretUnreadable."""
        return records_as_text.loads(decrypt(self.encrypted)) if self.encrypted else []

    def add_outcome(self, outcome: WriteOutcome) -> None:
        """Add the offset of an acknowledged record; `save` stores it."""
        add_offset(self.written, outcome)

    def delete_contents(self) -> None:
        self.encrypted, self.acknowledged = "", {}
        self.save(update_fields=["encrypted", "acknowledged"])


class CopyState(models.Model):
    """How far a plan that copies records came."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Partition of the source (as text) → the first offset that is not copied.
    positions = models.JSONField(default=dict)
    # Partition of the target (as text) → [first offset, last offset, number] of what was
    # acknowledged.
    written = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return str(self.pk)

    def add_outcome(self, outcome: WriteOutcome) -> None:
        add_offset(self.written, outcome)


def add_offset(written: dict[str, list[int]], outcome: WriteOutcome) -> None:
    """Add the offset of an acknowledged record to `written`."""
    if outcome.offset is None:
        return
    first, last, number = written.get(str(outcome.partition), (outcome.offset, outcome.offset, 0))
    offset = outcome.offset
    written[str(outcome.partition)] = [min(first, offset), max(last, offset), number + 1]
