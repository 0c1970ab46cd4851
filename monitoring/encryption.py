"""Encrypts secrets in the database with keys from a file.

The file of the setting AERIE_SECRET_KEY_FILE has one Fernet key per line, the newest first, mode
0600. The first key encrypts; all keys decrypt. `manage.py rotate_key` adds a key at the top.
Decrypted secrets are never shown, logged or passed to a task.

The first key is generated only if no secret is stored yet. If the file is missing although secrets
are stored, a new key would hide the problem that they cannot be decrypted.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction

from monitoring import secret_files
from monitoring.error_reason import Reason


class SecretUnreadable(Exception):
    """No key decrypts the stored secret; it must be entered again."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class EncryptedField(models.TextField):  # type: ignore[type-arg]
    """A column of encrypted text; the empty string = no secret."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"blank": True, "default": "", "editable": False, **options})

    def deconstruct(self) -> Any:
        """Migrations treat it as a TextField."""
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.TextField", args, options


def secret_count() -> int:
    """The number of secrets in the database; tables that do not exist yet count as empty."""
    return sum(
        model._default_manager.exclude(**{field.name: ""}).count() for model, field in _columns()
    )


def _columns() -> Iterator[tuple[type[models.Model], EncryptedField]]:
    """The columns of secrets whose tables exist."""
    tables = set(connection.introspection.table_names())
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, EncryptedField) and model._meta.db_table in tables:
                yield model, field


def reencrypt_all() -> int:
    """Encrypt all secrets in the database with the first key; returns their number.

    Raises SecretUnreadable if one cannot be decrypted; then none is changed.
    """
    count = 0
    with transaction.atomic():
        for model, field in _columns():
            rows = model._default_manager.select_for_update().exclude(**{field.name: ""})
            for row in rows:
                secret = decrypt(getattr(row, field.name))
                model._default_manager.filter(pk=row.pk).update(**{field.name: encrypt(secret)})
                count += 1
    return count


def missing_key_problem() -> Reason | None:
    """The error if the key is missing although secrets are stored."""
    path = Path(settings.AERIE_SECRET_KEY_FILE)
    if secret_files.read(path) or not (count := secret_count()):
        return None
    return Reason("secret_key_missing", path=str(path), n=count)


@lru_cache(maxsize=8)
def _keys(path: Path, modified_ns: int) -> MultiFernet:
    """The keys in the file. `modified_ns` is part of the cache key, so that changes are read."""
    return MultiFernet([Fernet(line) for line in path.read_bytes().split()])


def _fernet() -> MultiFernet:
    path = Path(settings.AERIE_SECRET_KEY_FILE)
    return _keys(path, path.stat().st_mtime_ns)


def ensure_key() -> None:
    """Generate the first key if there is none. Raises SecretUnreadable if the key was lost."""
    if problem := missing_key_problem():
        raise SecretUnreadable(problem)
    secret_files.ensure(Path(settings.AERIE_SECRET_KEY_FILE), secret_files.new_fernet_key)


def encrypt(secret: str) -> str:
    """Encrypt `secret` for storage; the empty string stays empty.

    Raises SecretUnreadable if the key of the stored secrets is lost.
    """
    if not secret:
        return ""
    ensure_key()
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypt a stored secret. Raises SecretUnreadable if no key decrypts it."""
    if not encrypted:
        return ""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except (InvalidToken, FileNotFoundError, ValueError) as error:
        raise SecretUnreadable(Reason("secret_undecryptable")) from error
