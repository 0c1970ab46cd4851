"""The subjects of a schema registry, their versions and compatibility: read and changed.

    GET /subjects                                   the names
    GET /subjects/SUBJECT/versions                  [1, 2, …]
    GET /subjects/SUBJECT/versions/N                {"id": …, "schema": TEXT, …}; N may be `latest`
    GET PUT DELETE /config/SUBJECT                  {"compatibilityLevel": …}; PUT: `compatibility`
    GET /config                                     of subjects that have none
    POST /subjects/SUBJECT                          which version has this schema
    POST /compatibility/subjects/SUBJECT/versions/latest
    POST /subjects/SUBJECT/versions                 registers a schema: {"id": …}
    DELETE /subjects/SUBJECT/versions/N             its records can still be decoded

A registry answers for one subject at a time, so a list asks for many at once and ends in time: what
fails or is not answered by then is not known.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.egress.bounded_http import Answer
from monitoring.error_reason import Reason
from monitoring.schema_registry.connection import (
    TIMEOUT_S,
    Connection,
    RegistryError,
    compatibility_path,
    config_path,
    fields_of,
    is_integer,
    json_of,
    name_of,
    refusal,
    registry_failure,
    run,
    subject_path,
    text_of,
    version_path,
)
from monitoring.schema_registry.read_schemas import (
    AVRO,
    REFERENCES_MAX,
    Reference,
    reference_of,
    type_of,
)

COMPATIBILITIES = (
    "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE",
    "FULL", "FULL_TRANSITIVE", "NONE",
)  # fmt: skip
SUBJECTS_MAX = 20_000  # of a list
_SUBJECTS_BYTES_MAX = 16 << 20
_AT_ONCE = 16
_LIST_S = TIMEOUT_S - 1.5  # for the details of a list
_VERSIONS_MAX = 10_000
_MESSAGES_MAX = 5


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as it is registered."""

    text: str
    type: str = AVRO
    references: tuple[Reference, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The body of a request to the registry."""
        fields: dict[str, Any] = {"schema": self.text}
        if self.type != AVRO:  # registries from before schemaType refuse it
            fields["schemaType"] = self.type
        if self.references:
            fields["references"] = [each._asdict() for each in self.references]
        return fields


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a subject."""

    number: int
    id: int
    schema: SchemaText


@dataclass(frozen=True, slots=True)
class SubjectRow:
    """A subject in a list; None = not known. `compatibility`: "" = that of the registry."""

    name: str
    version: int | None = None
    id: int | None = None
    type: str | None = None
    compatibility: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject. `compatibility`: its own, "" = that of the registry (`default`)."""

    name: str
    versions: tuple[int, ...]
    compatibility: str
    default: str


def count_subjects(settings: RegistrySettings) -> int:
    """The number of subjects, to test the connection. Raises RegistryError."""
    return len(run(settings, _listed))


def list_names(settings: RegistrySettings) -> list[str]:
    """The names of all subjects. Raises RegistryError."""
    return run(settings, _names)


def list_subjects(settings: RegistrySettings, names: Sequence[str]) -> tuple[list[SubjectRow], str]:
    """These subjects, and the compatibility of the registry ("" = not known)."""

    async def read(connection: Connection) -> tuple[list[SubjectRow], str]:
        rows = {name: SubjectRow(name) for name in names}
        limit = asyncio.Semaphore(_AT_ONCE)

        async def add(name: str) -> None:
            async with limit:
                rows[name] = await _row(connection, name)

        reads = [asyncio.ensure_future(add(name)) for name in names]
        default = asyncio.ensure_future(_compatibility(connection, ""))
        _done, late = await asyncio.wait([default, *reads], timeout=_LIST_S)
        for each in late:
            each.cancel()
        await asyncio.gather(default, *reads, return_exceptions=True)
        is_known = not default.cancelled() and default.exception() is None
        return list(rows.values()), default.result() if is_known else ""

    return run(settings, read)


def read_subject(settings: RegistrySettings, name: str) -> Subject:
    """Raises RegistryError, also if there is no such subject."""

    async def read(connection: Connection) -> Subject:
        answer = await connection.get(f"{subject_path(name)}/versions")
        if answer.status == 404:
            raise RegistryError(Reason("subject_missing", subject=name))
        versions = json_of(answer)
        if not isinstance(versions, list) or not all(map(is_integer, versions)):
            raise registry_failure(Reason("registry_format", why="no list of versions"))
        own, default = [await _compatibility(connection, each) for each in (name, "")]
        return Subject(name, tuple(sorted(versions)[-_VERSIONS_MAX:]), own, default)

    return run(settings, read)


def read_versions(
    settings: RegistrySettings, subject: str, numbers: Sequence[int]
) -> list[Version]:
    """Raises RegistryError."""

    async def read(connection: Connection) -> list[Version]:
        return [await _version(connection, subject, number) for number in numbers]

    return run(settings, read)


def latest_version(settings: RegistrySettings, subject: str) -> Version | None:
    """None = there is no such subject. Raises RegistryError."""
    try:
        return run(settings, lambda connection: _version(connection, subject, "latest"))
    except RegistryError as error:
        if error.reason.code == "version_missing":
            return None
        raise


def find_version(settings: RegistrySettings, subject: str, schema: SchemaText) -> int | None:
    """The version of the subject that has this schema; None = no version has it.

    Raises RegistryError.
    """

    async def find(connection: Connection) -> int | None:
        answer = await connection.send("POST", subject_path(subject), schema.as_json())
        if answer.status == 404:
            return None
        version = fields_of(_accepted(answer)).get("version")
        return version if is_integer(version) else None

    return run(settings, find)


def incompatibilities(settings: RegistrySettings, subject: str, schema: SchemaText) -> list[str]:
    """Why the registry would refuse the schema as a new version. Raises RegistryError."""

    async def check(connection: Connection) -> list[str]:
        answer = await connection.send("POST", compatibility_path(subject), schema.as_json())
        if answer.status == 404:  # its first version
            return []
        fields = fields_of(_accepted(answer))
        if fields.get("is_compatible") is True:
            return []
        messages = fields.get("messages")
        texts = [str(each)[:500] for each in messages] if isinstance(messages, list) else []
        return texts[:_MESSAGES_MAX] or ["it is not compatible with the latest version"]

    return run(settings, check)


def register(settings: RegistrySettings, subject: str, schema: SchemaText) -> None:
    """Register a schema as the next version. Raises RegistryError."""
    _change(settings, "POST", f"{subject_path(subject)}/versions", schema.as_json())


def set_compatibility(settings: RegistrySettings, subject: str, level: str) -> None:
    """Set the compatibility of a subject; "" removes its own. Raises RegistryError."""
    if level:
        _change(settings, "PUT", config_path(subject), {"compatibility": level})
    else:
        _change(settings, "DELETE", config_path(subject))


def delete_version(settings: RegistrySettings, subject: str, version: int) -> None:
    """Raises RegistryError."""
    _change(settings, "DELETE", version_path(subject, version))


def _change(settings: RegistrySettings, method: str, path: str, body: Any = None) -> None:
    async def change(connection: Connection) -> None:
        _accepted(await connection.send(method, path, body))

    run(settings, change)


def _accepted(answer: Answer) -> Answer:
    if answer.status != 200:
        raise refusal(answer)
    return answer


async def _listed(connection: Connection) -> list[Any]:
    listed = json_of(await connection.get("/subjects", _SUBJECTS_BYTES_MAX))
    if not isinstance(listed, list):
        raise registry_failure(Reason("registry_format", why="no list of subjects"))
    return listed


async def _names(connection: Connection) -> list[str]:
    listed = await _listed(connection)
    return [name_of({"name": name}, "name") for name in listed[:SUBJECTS_MAX]]


async def _row(connection: Connection, name: str) -> SubjectRow:
    version = await _version(connection, name, "latest")
    compatibility = await _compatibility(connection, name)
    return SubjectRow(name, version.number, version.id, version.schema.type, compatibility)


async def _compatibility(connection: Connection, subject: str) -> str:
    """The level of a subject, or with "" that of the registry; "" = it has none of its own."""
    answer = await connection.get(config_path(subject))
    if answer.status == 404:
        return ""
    level = fields_of(answer).get("compatibilityLevel")
    return level if level in COMPATIBILITIES else "?"


async def _version(connection: Connection, subject: str, number: int | str) -> Version:
    answer = await connection.get(version_path(subject, number))
    if answer.status == 404:
        raise RegistryError(Reason("version_missing", subject=subject, version=str(number)))
    fields = fields_of(answer)
    found, schema_id = fields.get("version"), fields.get("id")
    if not is_integer(found) or not is_integer(schema_id):
        raise RegistryError(Reason("registry_format", why="a version has no id"))
    schema = SchemaText(text_of(fields, "schema"), type_of(fields), _references(fields))
    return Version(found, schema_id, schema)


def _references(fields: dict[str, Any]) -> tuple[Reference, ...]:
    references = fields.get("references") or []
    if not isinstance(references, list) or len(references) > REFERENCES_MAX:
        raise RegistryError(Reason("registry_format", why="it has too many references"))
    return tuple(map(reference_of, references))
