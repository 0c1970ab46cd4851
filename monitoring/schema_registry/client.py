"""Reads schemas from a schema registry with Confluent's REST API.

    GET /schemas/ids/ID                    {"schema": TEXT, "schemaType": …, "references": […]}
    GET /schemas/ids/ID/versions           [{"subject": …, "version": …}]
    GET /subjects/SUBJECT/versions/N       a referenced schema, of the same form; `latest` in place
                                           of N: the schema for writing, with its id
    GET /subjects                          the connection test

A registry without `schemaType` means AVRO. Every URL passes the egress check, redirects are not
followed, and a schema with its references is limited in bytes, number and time.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar
from urllib.parse import quote

import httpx

from monitoring import bounded_http
from monitoring.bounded_http import Answer, AnswerRefused
from monitoring.client_settings import Tls, TlsSettingsInvalid, ssl_context_of
from monitoring.egress import EgressRefused, EgressUnresolved, check_against
from monitoring.gateway import event_loop
from monitoring.reasons import Reason
from monitoring.schema_registry_settings import RegistrySettings

TIMEOUT_S = 5.0  # for a schema with its references
TEXT_BYTES_MAX = 1 << 20  # of one answer
TEXTS_CHARS_MAX = 2 << 20  # of a schema with its references
REFERENCES_MAX = 100
_DEPTH_MAX = 20
_NAME_LENGTH_MAX = 500
_SUBJECTS_BYTES_MAX = 16 << 20
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
T = TypeVar("T")

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"


class RegistryError(Exception):
    """Why a schema cannot be read. `is_of_registry`: the registry itself fails, so that other
    schemas would fail, too."""

    def __init__(self, reason: Reason, *, is_of_registry: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_of_registry = reason, is_of_registry


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema and those that it references: names with texts, each after its own references."""

    id: int
    type: str
    text: str
    references: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    version: int | None = None

    @property
    def size_chars(self) -> int:
        return len(self.text) + sum(len(text) for _name, text in self.references)


def read_schema(settings: RegistrySettings, schema_id: int) -> Schema:
    """Raises RegistryError. Blocks; not for an event loop."""
    return _run(settings, lambda connection: connection.schema(schema_id))


def read_latest(settings: RegistrySettings, subject: str) -> Schema:
    """The latest version of a subject. Raises RegistryError. Blocks; not for an event loop."""
    return _run(settings, lambda connection: connection.latest(subject))


def count_subjects(settings: RegistrySettings) -> int:
    """The number of subjects, to test the connection. Raises RegistryError."""
    return _run(settings, lambda connection: connection.count_subjects())


def _run(settings: RegistrySettings, read: "Callable[[_Connection], Awaitable[T]]") -> T:
    async def connected() -> T:
        async with asyncio.timeout(TIMEOUT_S):
            async with httpx.AsyncClient(
                trust_env=False, follow_redirects=False, timeout=TIMEOUT_S,
                verify=_context(settings), auth=_login(settings), headers={"Accept": _ACCEPT},
            ) as client:  # fmt: skip
                return await read(_Connection(settings, client))

    try:
        return event_loop.run(connected(), TIMEOUT_S + 1)
    except TimeoutError as error:
        raise _of_registry(Reason("registry_silent", why=Reason("timed_out"))) from error
    except EgressUnresolved as error:
        raise _of_registry(Reason("registry_silent", why=error.reason)) from error
    except EgressRefused as error:
        raise _of_registry(Reason("registry_url", why=error.reason)) from error
    except TlsSettingsInvalid as error:
        raise _of_registry(Reason("registry_certificate", why=str(error))) from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise _of_registry(_connection_reason(error)) from error


def _of_registry(reason: Reason) -> RegistryError:
    return RegistryError(reason, is_of_registry=True)


def _connection_reason(error: Exception) -> Reason:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Reason("registry_certificate", why=cause.verify_message)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError):
        return Reason("registry_silent", why=Reason("no_connection", why=type(error).__name__))
    return Reason("registry_silent", why=type(error).__name__)


def _context(settings: RegistrySettings) -> ssl.SSLContext | bool:
    if not settings.url.lower().startswith("https:"):
        return False
    return ssl_context_of(Tls(settings.ca_pem))


def _login(settings: RegistrySettings) -> tuple[str, str] | None:
    has_login = settings.username or settings.password
    return (settings.username, settings.password) if has_login else None


class _Connection:
    """The requests for one schema."""

    def __init__(self, settings: RegistrySettings, client: httpx.AsyncClient) -> None:
        self._settings, self._client = settings, client
        self._chars_left = TEXTS_CHARS_MAX
        self._references: dict[str, str] = {}

    async def schema(self, schema_id: int) -> Schema:
        path = f"/schemas/ids/{schema_id}"
        answer = await self._get(path)
        if answer.status == 404:
            raise RegistryError(Reason("schema_missing", id=schema_id))
        fields = _fields(answer)
        await self._add_references(schema_id, fields, 0)
        subject, version = await self._subject(path)
        return Schema(
            schema_id, _type(fields), _text(fields, "schema"), tuple(self._references.items()),
            subject, version,
        )  # fmt: skip

    async def latest(self, subject: str) -> Schema:
        answer = await self._get(_version_path(subject, "latest"))
        if answer.status == 404:
            raise RegistryError(Reason("subject_missing", subject=subject))
        fields = _fields(answer)
        number, version = fields.get("id"), fields.get("version")
        if not _is_whole(number) or not 0 < number < 1 << 31 or not _is_whole(version):
            raise RegistryError(Reason("registry_format", why="a version has no id"))
        await self._add_references(number, fields, 0)
        text, references = _text(fields, "schema"), tuple(self._references.items())
        return Schema(number, _type(fields), text, references, subject, version)

    async def count_subjects(self) -> int:
        subjects = _json(await self._get("/subjects", _SUBJECTS_BYTES_MAX))
        if not isinstance(subjects, list):
            raise _of_registry(Reason("registry_format", why="no list of subjects"))
        return len(subjects)

    async def _add_references(self, schema_id: int, fields: dict[str, Any], depth: int) -> None:
        references = fields.get("references") or []
        self._chars_left -= len(_text(fields, "schema"))
        if not isinstance(references, list) or depth > _DEPTH_MAX or self._chars_left < 0:
            raise _too_many(schema_id)
        for each in references:
            name, subject = _name(each, "name"), _name(each, "subject")
            version = each.get("version")
            if not _is_whole(version):
                raise RegistryError(Reason("registry_format", why="a reference has no version"))
            if name in self._references:
                continue
            if len(self._references) >= REFERENCES_MAX:
                raise _too_many(schema_id)
            self._references[name] = ""  # a reference back to it ends here
            inner = _fields(await self._get(_version_path(subject, version)))
            await self._add_references(schema_id, inner, depth + 1)
            del self._references[name]  # behind its own references
            self._references[name] = _text(inner, "schema")

    async def _subject(self, path: str) -> tuple[str, int | None]:
        """A subject of the schema, and its version; "" if the registry does not say it."""
        try:
            found = _json(await self._get(f"{path}/versions"))
            subject, version = _name(found[0], "subject"), found[0]["version"]
        except (RegistryError, LookupError, TypeError):
            return "", None
        return subject, version if _is_whole(version) else None

    async def _get(self, path: str, bytes_max: int = TEXT_BYTES_MAX) -> Answer:
        """The answer if its status is 200 or 404. Raises RegistryError."""
        url = self._settings.url.rstrip("/") + path
        target = await asyncio.to_thread(check_against, url, self._settings.allowed)  # DNS
        try:
            answer = await bounded_http.request(
                self._client, "GET", target, timeout_s=TIMEOUT_S, body_bytes_max=bytes_max,
            )  # fmt: skip
        except AnswerRefused as error:
            raise RegistryError(Reason("registry_format", why=error.reason)) from error
        if answer.status in (401, 403):
            raise _of_registry(Reason("registry_login", status=answer.status))
        if answer.status not in (200, 404):
            raise _of_registry(Reason("registry_status", status=answer.status))
        return answer


def _too_many(schema_id: int) -> RegistryError:
    why = "they are too many or too large"
    return RegistryError(Reason("schema_references", id=schema_id, why=why))


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _version_path(subject: str, version: int | str) -> str:
    return f"/subjects/{quote(subject, safe='')}/versions/{version}"


def _json(answer: Answer) -> Any:
    if answer.status != 200:
        raise RegistryError(Reason("registry_status", status=answer.status))
    try:
        return bounded_http.parse_json(answer.body)
    except AnswerRefused as error:
        raise RegistryError(Reason("registry_format", why=error.reason)) from error
    except ValueError as error:
        raise RegistryError(Reason("registry_format", why="it is not JSON")) from error


def _fields(answer: Answer) -> dict[str, Any]:
    fields = _json(answer)
    if not isinstance(fields, dict):
        raise RegistryError(Reason("registry_format", why="it is not a JSON object"))
    return fields


def _text(fields: Any, name: str) -> str:
    text = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(text, str):
        raise RegistryError(Reason("registry_format", why=f"it has no text “{name}”"))
    return text


def _name(fields: Any, name: str) -> str:
    """A text that can be in a URL and on a page."""
    text = _text(fields, name)
    if not text.isprintable() or len(text) > _NAME_LENGTH_MAX:
        raise RegistryError(Reason("registry_format", why=f"“{name}” is not a name"))
    return text


def _type(fields: dict[str, Any]) -> str:
    found = fields.get("schemaType") or AVRO
    is_name = isinstance(found, str) and found.isascii() and found.isprintable()
    return str(found)[:40].upper() if is_name else "?"
