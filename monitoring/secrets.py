"""Secrets at rest: sealed with keys that live in a file, never beside what they seal.

The file `AERIE_SECRET_KEY_FILE` holds one Fernet key a line, newest first, mode 0600. The first
seals, all unseal, so a key is rotated by putting a new line on top. Sealed text is safe to store;
it is never shown, logged or passed to a task.

The first key is made where nothing is sealed yet, and only there: where secrets are stored and the
file is missing, a new key would look like all is well while nothing could be opened.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.apps import apps
from django.conf import settings
from django.db import connection, models

from monitoring import secretfiles


class SecretUnreadable(Exception):
    """A sealed text that none of the keys opens; the secret must be entered again."""


class SealedField(models.TextField):  # type: ignore[type-arg]
    """A column of sealed text; the empty string is no secret."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"blank": True, "default": "", "editable": False, **options})

    def deconstruct(self) -> Any:
        """For migrations it is text like any other."""
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.TextField", args, options


def sealed_count() -> int:
    """How many secrets the database holds; of tables that are not made yet, none."""
    made = set(connection.introspection.table_names())
    return sum(
        model._default_manager.exclude(**{field.name: ""}).count()
        for model in apps.get_models()
        for field in model._meta.local_fields
        if isinstance(field, SealedField) and model._meta.db_table in made
    )


def why_no_key() -> str:
    """Why there is no key although there are secrets, and what to do; empty where all is well."""
    path = Path(settings.AERIE_SECRET_KEY_FILE)
    if secretfiles.read(path) or not (count := sealed_count()):
        return ""
    return (
        f"AERIE_SECRET_KEY_FILE={path} is missing, and the database holds secrets that were "
        f"sealed with it ({count}). Put the file back from your copy. If there is none, "
        "`.venv/bin/python manage.py newkey` makes a new key; tokens of clusters and webhooks of "
        "alert rules must be entered again then"
    )


@lru_cache(maxsize=8)
def _keys(path: Path, modified_ns: int) -> MultiFernet:
    """The keys of one state of the file; `modified_ns` makes a rotated file read again."""
    return MultiFernet([Fernet(line) for line in path.read_bytes().split()])


def _fernet() -> MultiFernet:
    path = Path(settings.AERIE_SECRET_KEY_FILE)
    return _keys(path, path.stat().st_mtime_ns)


def ensure_key() -> None:
    """The first key is made where there is none. Raises SecretUnreadable where it was lost."""
    if problem := why_no_key():
        raise SecretUnreadable(problem)
    secretfiles.ensure(Path(settings.AERIE_SECRET_KEY_FILE), secretfiles.fernet_key)


def seal(secret: str) -> str:
    """`secret` as text that may be stored; the empty string stays empty.

    Raises SecretUnreadable where the key is lost that the others were sealed with.
    """
    if not secret:
        return ""
    ensure_key()
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """What `seal` was given. Raises SecretUnreadable if no key opens it."""
    if not sealed:
        return ""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except (InvalidToken, FileNotFoundError, ValueError) as error:
        raise SecretUnreadable(
            "a stored secret cannot be opened with the keys in AERIE_SECRET_KEY_FILE: "
            "put the old key back as a second line, or enter the secret again"
        ) from error
