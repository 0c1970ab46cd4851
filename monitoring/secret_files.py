"""Files of mode 0600: generated secrets, and configuration files that contain a secret.

A generated secret is written under a temporary name and the file renamed, while the folder is
locked. So if two processes start at the same time, one generates the secret and both use it. An
empty file, left by a crash or a full disk, counts as missing.
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
    """The secret in `path`; generated if there is none."""
    if existing := read(path):
        return existing
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent) as folder_fd:
        if existing := read(path):  # another process has written it
            return existing
        secret = make()
        _write_atomically(path, secret, folder_fd)
    return secret


def replace(path: Path, secret: str) -> None:
    """Replace the secret in `path`; readers see the old or the new one, never a part."""
    with _locked(path.parent) as folder_fd:
        _write_atomically(path, secret, folder_fd)


def _write_atomically(path: Path, secret: str, folder_fd: int) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    try:
        with open(descriptor, "w") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    os.fsync(folder_fd)


def write_config(path: Path, text: str) -> None:
    """Write a configuration file with a secret, never readable by other users. Not atomic."""
    path.unlink(missing_ok=True)  # the mode applies only to new files
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def read(path: Path) -> str:
    """The secret in `path`; empty if there is none."""
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


def new_token() -> str:
    """A random token of 43 characters."""
    return secrets.token_urlsafe(32)


def new_password() -> str:
    """A random password of 16 characters, without ambiguous ones."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(4)) for _ in range(4))


def new_fernet_key() -> str:
    """A new key for monitoring/encryption.py."""
    return Fernet.generate_key().decode()
