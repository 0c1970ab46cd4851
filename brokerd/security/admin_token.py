"""The bearer token of the admin port: made once, kept in a file that only its owner can read."""

import hmac
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from brokerd.security.read_regular_file import read_regular_file


class TokenError(Exception):
    """The token file cannot be used; the message is for users."""


def load_or_create(path: Path) -> str:
    """The token in the file; without a file, one is created (mode 0600) with a new token."""
    try:
        if not path.exists():
            with suppress(FileExistsError):  # another broker was faster: its token holds
                _create(path)
    except OSError as error:
        raise TokenError(f"cannot write the admin token to {path}: {error.strerror}") from error
    return _load(path)


def _create(path: Path) -> None:
    """The file gets its name when the token is in it: no crash leaves an empty one."""
    descriptor, written = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(written, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: of two that begin at once the last holds
            os.replace(written, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(written)


def _load(path: Path) -> str:
    try:
        token = read_regular_file(str(path)).decode("latin-1").strip()
    except OSError as error:
        raise TokenError(f"cannot read the admin token from {path}: {error.strerror}") from error
    if len(token) < 16:
        raise TokenError(
            f"the admin token in {path} is shorter than 16 characters: delete the file, and the "
            "broker makes a new one"
        )
    return token


def is_authorized(header: str | None, token: str) -> bool:
    """Whether an Authorization header has the token; the time does not depend on how much of it is
    right."""
    scheme, _, given = (header or "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode(), token.encode()
    )
