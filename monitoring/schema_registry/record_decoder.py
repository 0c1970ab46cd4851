"""Decodes the keys and values of records that begin with the id of a schema.

Decoding comes first of all: masking, filters, pages and downloads then see JSON in place of the
bytes. Data that cannot be decoded stay as they are, with the reason, so that a masking rule for a
member masks them as a whole.

One decoder serves one page or one search. It asks the registry for a limited number of schemas that
do not exist, since any binary data can begin like an id, and it takes a limited time for a page.
"""

import time
from collections.abc import Callable

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.error_reason import Reason
from monitoring.gateway.record_row import RecordRow, SchemaNote
from monitoring.schema_registry.compiled_schema import CompiledSchema
from monitoring.schema_registry.schema_cache import SchemaCache, cache_of
from monitoring.schema_registry.wire_format import schema_id_of

FAILED_LOOKUPS_MAX = 100
LOOKUP_SECONDS_MAX = 20.0
PAGE_SECONDS = 10.0
PAGE_BYTES = 64 << 20  # of decoded JSON


class RecordDecoder:
    def __init__(
        self,
        cache: SchemaCache,
        seconds_max: float | None = PAGE_SECONDS,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds_max`: None = no limits of time and size for decoding, for a process that has its
        own; those of look-ups stay."""
        self._cache, self._clock_s = cache, clock_s
        self._seconds_left = float("inf") if seconds_max is None else seconds_max
        self._bytes_left = float("inf") if seconds_max is None else PAGE_BYTES
        self._lookup_seconds_left = LOOKUP_SECONDS_MAX
        self._failed_lookups = 0

    def decode(self, row: RecordRow) -> RecordRow:
        """The record with key and value as JSON where they have a schema. Never raises."""
        key_id, value_id = schema_id_of(row.key), schema_id_of(row.value)
        if key_id is None and value_id is None:
            return row
        started_s = self._clock_s()
        if key_id is not None and row.key is not None:
            data, note = self._decode(key_id, row.key)
            row = row._replace(key=data, key_schema=note)
        if value_id is not None and row.value is not None:
            data, note = self._decode(value_id, row.value)
            row = row._replace(value=data, value_schema=note)
        self._seconds_left -= self._clock_s() - started_s
        return row

    def _decode(self, schema_id: int, data: bytes) -> tuple[bytes, SchemaNote]:
        schema = self._schema(schema_id)
        if isinstance(schema, Reason):
            return data, SchemaNote(schema_id, problem=schema, size_bytes=len(data), raw=data)
        found = schema.decode(data)
        note = SchemaNote(
            schema_id, schema.type, schema.subject, schema.version, found.title, found.problem,
            len(data), data,
        )  # fmt: skip
        if found.json is None:
            return data, note
        self._bytes_left -= len(found.json)
        return found.json, note

    def _schema(self, schema_id: int) -> CompiledSchema | Reason:
        if self._seconds_left <= 0 or self._bytes_left <= 0:
            return Reason("schema_budget")
        found = self._cache.cached(schema_id)
        if found is None:
            if self._failed_lookups >= FAILED_LOOKUPS_MAX:
                return Reason("schema_lookups")
            if self._lookup_seconds_left <= 0:
                return Reason("registry_slow")
            started_s = self._clock_s()
            found = self._cache.get(schema_id)
            self._lookup_seconds_left -= self._clock_s() - started_s
            self._failed_lookups += isinstance(found, Reason) and found.code == "schema_missing"
        return found


def for_registry(
    settings: RegistrySettings, seconds_max: float | None = PAGE_SECONDS
) -> RecordDecoder:
    return RecordDecoder(cache_of(settings), seconds_max)
