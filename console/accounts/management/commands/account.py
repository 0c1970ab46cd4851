"""`manage.py account NAME --role viewer`: creates an account or changes its role.

For a new account (or with --password) it asks for a password twice, or reads a line of standard
input if that is not a terminal. The password is never a command-line argument, which others can
read.
"""

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from console.accounts.rights import GRANTED_ROLES
from console.accounts.services import grant
from console.accounts.signals import account_changed

_PATTERNS = ("topics", "groups")
_AUDITED = ("role", *_PATTERNS, "password", "block", "unblock")


class Command(BaseCommand):
    help = "Create an account, or change its role, scope or password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=GRANTED_ROLES, help="the role of the account")
        parser.add_argument("--cluster", default="", help="only on this cluster (its short name)")
        for kind in _PATTERNS:
            parser.add_argument(
                f"--{kind}",
                help=f"only these {kind}: comma-separated names or prefixes with *; '*' = all",
            )
        parser.add_argument("--password", action="store_true", help="set a new password")
        blocking = parser.add_mutually_exclusive_group()
        blocking.add_argument("--block", action="store_true", help="refuse sign-ins")
        blocking.add_argument("--unblock", action="store_true", help="allow sign-ins again")

    def handle(self, *args: Any, **options: Any) -> None:
        users = get_user_model().objects
        user = users.filter(username=options["name"]).first()
        is_new = user is None
        if is_new and not options["role"]:
            raise CommandError("a new account needs a role: --role viewer, operator or admin")
        user = user or get_user_model()(username=options["name"])
        patterns = {kind: _patterns(options[kind]) for kind in _PATTERNS}
        role = options["role"] or self._role(user, options["cluster"], patterns)
        if is_new or options["password"]:
            user.set_password(self._password(user))
        if options["block"] or options["unblock"]:
            user.is_active = options["unblock"]
        with transaction.atomic():
            user.save()
            if role:
                self.stdout.write(str(grant(user, role, options["cluster"], **patterns)))
            changes = {name: options[name] for name in _AUDITED if options[name]}
            account_changed.send(Command, user=user, cluster=options["cluster"], changes=changes)

    def _role(self, user: Any, cluster: str, patterns: dict[str, Any]) -> str:
        """The role whose patterns are changed; empty if none are."""
        if not any(patterns.values()):
            return ""
        existing = user.role_grants.filter(cluster=cluster).first()
        if existing is None:
            raise CommandError("the account has no such role to limit: add --role")
        return str(existing.role)

    def _password(self, user: Any) -> str:
        if sys.stdin.isatty():
            password = getpass.getpass("Password: ")
            if password != getpass.getpass("Again: "):
                raise CommandError("the two passwords differ")
        else:
            password = sys.stdin.readline().rstrip("\n")
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        return password


def _patterns(text: str | None) -> list[str] | None:
    """The patterns of an option; None if it was not given."""
    if text is None:
        return None
    patterns = [part.strip() for part in text.split(",") if part.strip()]
    if not patterns:
        raise CommandError("name at least one, or '*' for all")
    return patterns
