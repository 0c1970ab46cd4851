"""Secrets that the product makes for itself: files of mode 0600, each written once.

A file appears with its content or not at all (written aside, then renamed), and whoever makes one
holds its folder's lock: of two processes that start together one makes the secret, both use it.
An empty file, left by a crash or a full disk, counts as missing.
"""

import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.fernet import Fernet


def ensure(path: Path, make: Callable[[], str]) -> str:
    """The secret in `path`; made and written there if there is none yet."""
    if kept := read(path):
        return kept
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent) as folder:
        if kept := read(path):  # another process was first
            return kept
        secret = make()
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
        try:
            with open(descriptor, "w") as file:
                file.write(secret + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
        os.fsync(folder)
    return secret


def write(path: Path, text: str) -> None:
    """A configuration that holds a secret: only its owner may read it, from its first byte on."""
    path.unlink(missing_ok=True)  # a mode is only given to a file that is new
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def read(path: Path) -> str:
    """The secret in `path`; empty where there is none."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)  # which unlocks


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
