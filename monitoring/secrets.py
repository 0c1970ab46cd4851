"""Secrets at rest: sealed with keys that live in a file, never beside what they seal.

The file `AERIE_SECRET_KEY_FILE` holds one Fernet key a line, newest first, mode 0600. The first
seals, all unseal, so a key is rotated by putting a new line on top. Sealed text is safe to store;
it is never shown, logged or passed to a task.
"""

from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from monitoring import secretfiles


class SecretUnreadable(Exception):
    """A sealed text that none of the keys opens; the secret must be entered again."""


@lru_cache(maxsize=8)
def _keys(path: Path, modified_ns: int) -> MultiFernet:
    """The keys of one state of the file; `modified_ns` makes a rotated file read again."""
    return MultiFernet([Fernet(line) for line in path.read_bytes().split()])


def _fernet() -> MultiFernet:
    path = Path(settings.AERIE_SECRET_KEY_FILE)
    secretfiles.ensure(path, secretfiles.fernet_key)
    return _keys(path, path.stat().st_mtime_ns)


def seal(secret: str) -> str:
    """`secret` as text that may be stored; the empty string stays empty."""
    return _fernet().encrypt(secret.encode()).decode() if secret else ""


def unseal(sealed: str) -> str:
    """What `seal` was given. Raises SecretUnreadable if no key opens it."""
    if not sealed:
        return ""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise SecretUnreadable(
            "a stored secret cannot be opened with the keys in AERIE_SECRET_KEY_FILE: "
            "put the old key back as a second line, or enter the secret again"
        ) from error
