"""Secrets that the first start makes: files of 0600 in the data folder, never overwritten."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from cryptography.fernet import Fernet


def ensure(path: Path, make: Callable[[], str]) -> str:
    """The secret in `path`; made and written there if there is none yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    secret = make()
    with open(descriptor, "w") as file:
        file.write(secret + "\n")
    return secret


def token() -> str:
    """43 characters that nobody guesses."""
    return secrets.token_urlsafe(32)


def password() -> str:
    """16 characters to type, without those that look alike."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(4)) for _ in range(4))


def fernet_key() -> str:
    """A key for monitoring/secrets.py."""
    return Fernet.generate_key().decode()
