"""Reads schemas from a schema registry with Confluent's REST API.

    GET /schemas/ids/ID                    {"schema": TEXT, "schemaType": …, "references": […]}
    GET /schemas/ids/ID/versions           [{"subject": …, "version": …}]
    GET /subjects/SUBJECT/versions/N       a referenced schema, of the same form; `latest` in place
                                           of N: the schema for writing, with its id

Without `schemaType` a schema is AVRO. Every URL passes the egress check, redirects are not
followed, and a schema with its references is limited in bytes, number and time.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.error_reason import Reason
from monitoring.schema_registry.connection import (
    Connection,
    RegistryError,
    fields_of,
    is_integer,
    json_of,
    name_of,
    run,
    text_of,
    version_path,
)

TEXTS_CHARS_MAX = 2 << 20  # of a schema with its references
REFERENCES_MAX = 100
_DEPTH_MAX = 20

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"


class Reference(NamedTuple):
    """A schema that another one imports by `name`."""

    name: str
    subject: str
    version: int


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
    return run(settings, lambda connection: _SchemaReader(connection).schema(schema_id))


def read_latest(settings: RegistrySettings, subject: str) -> Schema:
    """The latest version of a subject. Raises RegistryError. Blocks; not for an event loop."""
    return run(settings, lambda connection: _SchemaReader(connection).latest(subject))


class _SchemaReader:
    """The requests for one schema."""

    def __init__(self, connection: Connection) -> None:
        self._get = connection.get
        self._chars_left = TEXTS_CHARS_MAX
        self._references: dict[str, str] = {}

    async def schema(self, schema_id: int) -> Schema:
        path = f"/schemas/ids/{schema_id}"
        answer = await self._get(path)
        if answer.status == 404:
            raise RegistryError(Reason("schema_missing", id=schema_id))
        fields = fields_of(answer)
        await self._add_references(schema_id, fields, 0)
        subject, version = await self._subject(path)
        return Schema(
            schema_id, type_of(fields), text_of(fields, "schema"), tuple(self._references.items()),
            subject, version,
        )  # fmt: skip

    async def latest(self, subject: str) -> Schema:
        answer = await self._get(version_path(subject, "latest"))
        if answer.status == 404:
            raise RegistryError(Reason("subject_missing", subject=subject))
        fields = fields_of(answer)
        number, version = fields.get("id"), fields.get("version")
        if not is_integer(number) or not 0 < number < 1 << 31 or not is_integer(version):
            raise RegistryError(Reason("registry_format", why="a version has no id"))
        await self._add_references(number, fields, 0)
        text, references = text_of(fields, "schema"), tuple(self._references.items())
        return Schema(number, type_of(fields), text, references, subject, version)

    async def _add_references(self, schema_id: int, fields: dict[str, Any], depth: int) -> None:
        references = fields.get("references") or []
        self._chars_left -= len(text_of(fields, "schema"))
        if not isinstance(references, list) or depth > _DEPTH_MAX or self._chars_left < 0:
            raise _too_many(schema_id)
        for name, subject, version in map(reference_of, references):
            if name in self._references:
                continue
            if len(self._references) >= REFERENCES_MAX:
                raise _too_many(schema_id)
            self._references[name] = ""  # so that a schema that refers back to this one ends here
            inner = fields_of(await self._get(version_path(subject, version)))
            await self._add_references(schema_id, inner, depth + 1)
            # A dict keeps its order: the schema follows those that it refers to.
            del self._references[name]
            self._references[name] = text_of(inner, "schema")

    async def _subject(self, path: str) -> tuple[str, int | None]:
        """A subject of the schema, and its version; "" if the registry does not say it."""
        try:
            found = json_of(await self._get(f"{path}/versions"))
            subject, version = name_of(found[0], "subject"), found[0]["version"]
        except (RegistryError, LookupError, TypeError):
            return "", None
        return subject, version if is_integer(version) else None


def _too_many(schema_id: int) -> RegistryError:
    why = "they are too many or too large"
    return RegistryError(Reason("schema_references", id=schema_id, why=why))


def reference_of(fields: Any) -> Reference:
    """Raises RegistryError."""
    name, subject = name_of(fields, "name"), name_of(fields, "subject")
    version = fields.get("version")
    if not is_integer(version):
        raise RegistryError(Reason("registry_format", why="a reference has no version"))
    return Reference(name, subject, version)


def type_of(fields: dict[str, Any]) -> str:
    found = fields.get("schemaType") or AVRO
    is_name = isinstance(found, str) and found.isascii() and found.isprintable()
    return str(found)[:40].upper() if is_name else "?"
