"""Creates an object on S3 only if there is none: a PUT with `If-None-Match: *`.

pyarrow has no such call, so this module sends the request and signs it (AWS Signature Version 4).
The bucket is in the path: each store understands that. Keys, region and address are those of the
environment, which pyarrow uses, too (docs/decisions/0013-conditional-put.md).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

import httpx

TIMEOUT_S = 30.0
_ALGORITHM = "AWS4-HMAC-SHA256"
_EXISTS = (409, 412)  # 409: another request for the same object was faster
_NOT_IMPLEMENTED = 501


class Unsupported(Exception):
    """The store has no conditional PUT."""


@dataclass(frozen=True, slots=True)
class Account:
    """A store and the keys for it. `token` is '' unless the keys are temporary."""

    endpoint: str  # https://host[:port]
    region: str
    key: str
    secret: str
    token: str = ""


def account_of(environ: Mapping[str, str], region: str) -> Account:
    """The account of the environment. Raises OSError if it has no keys."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    if missing := [name for name in names if not environ.get(name)]:
        raise OSError(f"a history on S3 needs {' and '.join(missing)} in the environment")
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    return Account(
        endpoint=(endpoint or f"https://s3.{region}.amazonaws.com").rstrip("/"),
        region=region,
        key=environ[names[0]],
        secret=environ[names[1]],
        token=environ.get("AWS_SESSION_TOKEN", ""),
    )


def create(account: Account, path: str, data: bytes, now: datetime | None = None) -> None:
    """Write the object at `path` (bucket/key).

    Raises FileExistsError, Unsupported, or OSError for any other failure. After a time-out the
    object may be there.
    """
    url = f"{account.endpoint}/{quote(path, safe='/-_.~')}"
    headers = {"if-none-match": "*"}
    headers = signed_headers(account, "PUT", url, headers, data, now or datetime.now(UTC))
    try:
        answer = httpx.put(url, content=data, headers=headers, timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        raise OSError(f"{account.endpoint} does not answer: {error}") from error
    if answer.status_code in _EXISTS:
        raise FileExistsError(path)
    if answer.status_code == _NOT_IMPLEMENTED:
        raise Unsupported(account.endpoint)
    if not answer.is_success:
        raise OSError(
            f"{account.endpoint} refused {path}: {answer.status_code} {answer.text[:300]}"
        )


def signed_headers(
    account: Account, method: str, url: str, headers: Mapping[str, str], data: bytes, now: datetime
) -> dict[str, str]:
    """All headers of the request (their names in lower case), with the signature. Pure.

    `url` has no query, and its path is encoded.
    """
    parts = urlsplit(url)
    digest = hashlib.sha256(data).hexdigest()
    time = now.strftime("%Y%m%dT%H%M%SZ")
    found = {"host": parts.netloc, "x-amz-content-sha256": digest, "x-amz-date": time, **headers}
    if account.token:
        found["x-amz-security-token"] = account.token
    names = ";".join(sorted(found))
    lines = [f"{name}:{found[name]}" for name in sorted(found)]
    request = "\n".join((method, parts.path, "", *lines, "", names, digest))
    day = time[:8]
    scope = f"{day}/{account.region}/s3/aws4_request"
    hashed = hashlib.sha256(request.encode()).hexdigest()
    key = f"AWS4{account.secret}".encode()
    for part in (day, account.region, "s3", "aws4_request"):
        key = _hmac(key, part)
    signature = _hmac(key, "\n".join((_ALGORITHM, time, scope, hashed))).hex()
    credential = f"{account.key}/{scope}"
    found["authorization"] = (
        f"{_ALGORITHM} Credential={credential},SignedHeaders={names},Signature={signature}"
    )
    return found


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
