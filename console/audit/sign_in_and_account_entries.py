"""Writes the audit entries of sign-ins and changes of accounts, as receivers of their signals."""

from typing import Any

from django.dispatch import receiver

from console.accounts.signals import account_changed, locked_out, sign_in_refused, signed_in
from console.audit.models import SIGN_IN
from console.audit.write_entry import record

USERNAME_LENGTH_MAX = 150


@receiver(signed_in)
def _signed_in(user: Any, address: str, **_: Any) -> None:
    record(user, SIGN_IN, remote_addr=address)


@receiver(sign_in_refused)
def _sign_in_refused(username: str, address: str, **_: Any) -> None:
    record(None, SIGN_IN, resource=_stored(username), remote_addr=address, outcome="refused")


@receiver(locked_out)
def _locked_out(username: str, address: str, minutes: int, **_: Any) -> None:
    # Stored as a refused sign-in, to be deleted with those: anybody can cause it.
    details = {"locked out for minutes": minutes}
    record(
        None, SIGN_IN, resource=_stored(username), after=details, remote_addr=address,
        outcome="refused",
    )  # fmt: skip


def _stored(username: str) -> str:
    return username[:USERNAME_LENGTH_MAX].replace("\x00", "")  # PostgreSQL stores no NUL


@receiver(account_changed)
def _account_changed(user: Any, cluster: str, changes: dict[str, Any], **_: Any) -> None:
    record(None, "account.set", cluster, user.username, after=changes)
