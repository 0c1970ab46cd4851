"""A connection to a schema registry with Confluent's REST API: limited requests, checked answers.

Every URL passes the egress check, redirects are not followed, and answers are limited in bytes and
time.
"""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeGuard, TypeVar
from urllib.parse import quote

import httpx

from monitoring.clusters.kafka_client_settings import Tls, TlsSettingsInvalid, ssl_context_of
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.egress import bounded_http
from monitoring.egress.bounded_http import Answer, AnswerRefused
from monitoring.egress.url_checks import EgressRefused, EgressUnresolved, check_against
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop

TIMEOUT_S = 5.0  # of one `run`
TEXT_BYTES_MAX = 1 << 20  # of one answer
_NAME_LENGTH_MAX = 500
_MESSAGE_LENGTH_MAX = 2_000
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
T = TypeVar("T")


class RegistryError(Exception):
    """Why a request to a schema registry failed. `has_registry_failed`: the registry itself
    fails, so that requests for other schemas would fail, too."""

    def __init__(self, reason: Reason, *, has_registry_failed: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.has_registry_failed = reason, has_registry_failed


def run(settings: RegistrySettings, read: "Callable[[Connection], Awaitable[T]]") -> T:
    """The result of `read` on a connection. Raises RegistryError. Blocks; not for an event loop."""

    async def connected() -> T:
        async with asyncio.timeout(TIMEOUT_S):
            async with bounded_http.new_client(
                TIMEOUT_S,
                tls=_tls(settings),
                auth=_login(settings),
                headers={"Accept": _ACCEPT},
            ) as client:
                return await read(Connection(settings, client))

    try:
        return event_loop.run(connected(), TIMEOUT_S + 1)
    except TimeoutError as error:
        raise registry_failure(Reason("registry_silent", why=Reason("timed_out"))) from error
    except EgressUnresolved as error:
        raise registry_failure(Reason("registry_silent", why=error.reason)) from error
    except EgressRefused as error:
        raise registry_failure(Reason("registry_url", why=error.reason)) from error
    except TlsSettingsInvalid as error:
        raise registry_failure(Reason("registry_certificate", why=str(error))) from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise registry_failure(_connection_reason(error)) from error


def registry_failure(reason: Reason) -> RegistryError:
    """An error of the registry itself."""
    return RegistryError(reason, has_registry_failed=True)


def _connection_reason(error: Exception) -> Reason:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Reason("registry_certificate", why=cause.verify_message)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError):
        return Reason("registry_silent", why=Reason("no_connection", why=type(error).__name__))
    return Reason("registry_silent", why=type(error).__name__)


def _tls(settings: RegistrySettings) -> ssl.SSLContext | None:
    if not settings.url.lower().startswith("https:"):
        return None
    return ssl_context_of(Tls(settings.ca_pem))


def _login(settings: RegistrySettings) -> tuple[str, str] | None:
    has_login = settings.username or settings.password
    return (settings.username, settings.password) if has_login else None


class Connection:
    """The requests of one `run`."""

    def __init__(self, settings: RegistrySettings, client: httpx.AsyncClient) -> None:
        self._settings, self._client = settings, client

    async def get(self, path: str, bytes_max: int = TEXT_BYTES_MAX) -> Answer:
        """The answer if its status is 200 or 404. Raises RegistryError."""
        answer = await self.send("GET", path, bytes_max=bytes_max)
        if answer.status not in (200, 404):
            raise registry_failure(Reason("registry_status", status=answer.status))
        return answer

    async def send(
        self, method: str, path: str, body: Any = None, bytes_max: int = TEXT_BYTES_MAX
    ) -> Answer:
        """The answer, unless the login is refused. Raises RegistryError."""
        url = self._settings.url.rstrip("/") + path
        target = await asyncio.to_thread(check_against, url, self._settings.allowed)  # DNS
        has_body = body is not None
        try:
            answer = await bounded_http.request(
                self._client, method, target, timeout_s=TIMEOUT_S, body_bytes_max=bytes_max,
                content=json.dumps(body).encode() if has_body else None,
                headers={"Content-Type": _CONTENT_TYPE} if has_body else None,
            )  # fmt: skip
        except AnswerRefused as error:
            raise RegistryError(Reason("registry_format", why=error.reason)) from error
        if answer.status in (401, 403):
            raise registry_failure(Reason("registry_login", status=answer.status))
        return answer


def is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def subject_path(subject: str) -> str:
    return f"/subjects/{quote(subject, safe='')}"


def version_path(subject: str, version: int | str) -> str:
    return f"{subject_path(subject)}/versions/{version}"


def config_path(subject: str) -> str:
    """The path of the compatibility of a subject; "" = of the registry."""
    return f"/config/{quote(subject, safe='')}" if subject else "/config"


def compatibility_path(subject: str) -> str:
    return f"/compatibility{version_path(subject, 'latest')}?verbose=true"


def refusal(answer: Answer) -> RegistryError:
    """The error of a request that the registry does not accept, with what it says."""
    try:
        message = text_of(bounded_http.parse_json(answer.body), "message")
    except (ValueError, AnswerRefused, RegistryError):
        return RegistryError(Reason("registry_status", status=answer.status))
    shown = "".join(c if c.isprintable() else " " for c in message[:_MESSAGE_LENGTH_MAX])
    return RegistryError(Reason("registry_refuses", status=answer.status, why=shown))


def json_of(answer: Answer) -> Any:
    if answer.status != 200:
        raise RegistryError(Reason("registry_status", status=answer.status))
    try:
        return bounded_http.parse_json(answer.body)
    except AnswerRefused as error:
        raise RegistryError(Reason("registry_format", why=error.reason)) from error
    except ValueError as error:
        raise RegistryError(Reason("registry_format", why="it is not JSON")) from error


def fields_of(answer: Answer) -> dict[str, Any]:
    fields = json_of(answer)
    if not isinstance(fields, dict):
        raise RegistryError(Reason("registry_format", why="it is not a JSON object"))
    return fields


def text_of(fields: Any, name: str) -> str:
    text = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(text, str):
        raise RegistryError(Reason("registry_format", why=f"it has no text “{name}”"))
    return text


def name_of(fields: Any, name: str) -> str:
    """A text that can be in a URL and on a page."""
    text = text_of(fields, name)
    if not text.isprintable() or len(text) > _NAME_LENGTH_MAX:
        raise RegistryError(Reason("registry_format", why=f"“{name}” is not a name"))
    return text
