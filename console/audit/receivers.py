"""Writes audit rows for sign-ins and changes of accounts."""

from typing import Any

from django.dispatch import receiver

from console.accounts.signals import account_changed, sign_in_refused, signed_in
from console.audit.services import record

USERNAME_LENGTH_MAX = 150


@receiver(signed_in)
def _signed_in(user: Any, address: str, **_: Any) -> None:
    record(user, "account.sign-in", remote_addr=address)


@receiver(sign_in_refused)
def _sign_in_refused(username: str, address: str, **_: Any) -> None:
    name = username[:USERNAME_LENGTH_MAX].replace("\x00", "")  # PostgreSQL stores no NUL
    record(None, "account.sign-in", resource=name, remote_addr=address, outcome="refused")


@receiver(account_changed)
def _account_changed(user: Any, cluster: str, changes: dict[str, Any], **_: Any) -> None:
    record(None, "account.set", cluster, user.username, after=changes)
