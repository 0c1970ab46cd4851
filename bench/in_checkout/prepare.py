"""Run in a checkout: its database with users and a cluster, and a session for each user.

    python bench/in_checkout/prepare.py USERS OUTPUT.json       in the checkout's environment

Writes {"cookie": name, "sessions": [key, …]}: the first is an admin's, the others' roles alternate.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import django
from cryptography.fernet import Fernet
from django.conf import settings
from names import find, rule_fields
from synthetic import LAG_RARE, SLUG

_ROLES = ("admin", "viewer", "operator")


def main() -> None:
    """See the module."""
    users, output = int(sys.argv[1]), Path(sys.argv[2])
    _make_secret_key()
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    _collect_static_files()
    cluster = find("Cluster").objects.create(
        slug=SLUG, name="Bench", bootstrap_servers="127.0.0.1:1"
    )
    find("AlertRule").objects.create(
        cluster=cluster,
        name="Far behind",
        group_pattern="*",
        for_seconds=0,
        **rule_fields(LAG_RARE),
    )
    output.write_text(json.dumps(sign_ins(users)))


def sign_ins(users: int) -> dict[str, Any]:
    """Sign new users in: the name of the cookie, and the session of each."""
    sessions = [_session(f"user-{number}", _ROLES[number % 3]) for number in range(users)]
    return {"cookie": settings.SESSION_COOKIE_NAME, "sessions": sessions}


def _collect_static_files() -> None:
    """As the stack does at its start, in a checkout that does."""
    try:
        from console import static_files
    except ImportError:
        return
    static_files.collect()


def _make_secret_key() -> None:
    """As the stack does before anything else reads the settings."""
    path = Path(os.environ["AERIE_DATA"]) / "secret.key"
    path.touch(0o600)
    path.write_bytes(Fernet.generate_key() + b"\n")


def _session(name: str, role: str) -> str:
    """Signs a new user in, as the login page does after the password."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    user = get_user_model().objects.create(username=name)
    find("grant")(user, role)
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


if __name__ == "__main__":
    main()
