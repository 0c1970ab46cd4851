"""Keys and values that are encoded with a schema of the cluster's schema registry.

A user names the schema: a subject, whose latest version it is, or an id. Subjects are not listed:
their names are names of topics, also of those that the user may not see.
"""

import time
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.produce.data_formats import InvalidData, read_json
from console.ui.texts import sentence
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.gateway.record_row import schema_type_name
from monitoring.schema_registry.compiled_schema import SchemaUnusable
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.read_schemas import Schema, read_latest, read_schema
from monitoring.schema_registry.schema_encoder import NotEncoded, SchemaEncoder

SECONDS_MAX = 20.0
_ID_MAX = (1 << 31) - 1


@dataclass(slots=True)
class FormEncoder:
    """Encodes the keys or values of one form with a schema, in limited time."""

    encoder: SchemaEncoder
    seconds_left: float = SECONDS_MAX

    def encode_text(self, text: str) -> bytes:
        """The bytes of typed JSON. Raises InvalidData."""
        return self.encode_value(read_json(text, exact_json), text)

    def encode_value(self, value: Any, text: str) -> bytes:
        """The bytes of the value that was read from the JSON `text`. Raises InvalidData."""
        if self.seconds_left <= 0:
            raise InvalidData(_("Encoding takes too long: write fewer records at once."))
        started_s = time.monotonic()
        try:
            return self.encoder.encode(value, text)
        except NotEncoded as error:
            raise InvalidData(sentence(error.reason)) from error
        finally:
            self.seconds_left -= time.monotonic() - started_s

    @property
    def title(self) -> str:
        """The schema's name in the review, such as “Avro, payments, version 3 (id 17)”."""
        return schema_title(self.encoder.schema)


def find_schema(
    registry: RegistrySettings, name_of_schema: str, subject: str
) -> tuple[Schema, str]:
    """The schema that a user named as “subject”, “id” or either with “#message”; "" = `subject`.
    The second value is the message. Asks the registry. Raises InvalidData."""
    name, _hash, message = name_of_schema.strip().partition("#")
    try:
        if name.isascii() and name.isdigit() and int(name[:20]) <= _ID_MAX:
            return read_schema(registry, int(name)), message
        return read_latest(registry, name or subject), message
    except RegistryError as error:
        raise InvalidData(sentence(error.reason)) from error


def form_encoder(registry: RegistrySettings, name_of_schema: str, subject: str) -> FormEncoder:
    """The encoder of the schema that a user named. Asks the registry. Raises InvalidData."""
    schema, message = find_schema(registry, name_of_schema, subject)
    try:
        return FormEncoder(SchemaEncoder(schema, message))
    except SchemaUnusable as error:
        raise InvalidData(sentence(error.reason)) from error


def subject_of(topic: str, part: str) -> str:
    """The usual subject of a topic's keys or values (`part`: key or value)."""
    return f"{topic}-{part}"


def schema_title(schema: Schema) -> str:
    values = {"type": schema_type_name(schema.type), "subject": schema.subject}
    values |= {"version": str(schema.version), "id": str(schema.id)}
    if not schema.subject or schema.version is None:
        return _("%(type)s, id %(id)s") % values
    return _("%(type)s, %(subject)s, version %(version)s (id %(id)s)") % values
