"""The bearer token of the admin port: made once, kept in a file that only its owner can read."""

import hmac
import os
import secrets
from pathlib import Path


class TokenError(Exception):
    """The token file cannot be used, said for a user."""


def load_or_create(path: Path) -> str:
    """The token in the file; a file that does not exist is made, mode 0600, with a fresh one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _load(path)
    except OSError as error:
        raise TokenError(f"cannot write the admin token to {path}: {error.strerror}") from error
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
    return token


def _load(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise TokenError(f"cannot read the admin token from {path}: {error.strerror}") from error
    if len(token) < 16:
        raise TokenError(f"the admin token in {path} is shorter than 16 characters")
    return token


def is_authorized(header: str | None, token: str) -> bool:
    """Whether an Authorization header carries the token; takes the same time for any wrong one."""
    scheme, _, given = (header or "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode(), token.encode()
    )
