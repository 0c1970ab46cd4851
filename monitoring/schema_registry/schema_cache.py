"""The schemas of one registry, in memory, and what is known to be missing.

A schema never changes under its id, so it is kept until others need its place. An id that the
registry does not have, and a schema that cannot be used, are asked for again after a while. While
the registry as a whole fails, nothing is asked: otherwise a page of records would wait for each.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.error_reason import Reason
from monitoring.schema_registry.compiled_schema import CompiledSchema, SchemaUnusable
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.read_schemas import Schema, read_schema

SCHEMAS_MAX = 1_000
TEXTS_CHARS_MAX = 16 << 20
MISSING_RETRY_S = 60.0
REGISTRY_RETRY_S = 15.0
_REGISTRIES_MAX = 32

Read = Callable[[RegistrySettings, int], Schema]


class SchemaCache:
    def __init__(
        self,
        settings: RegistrySettings,
        read: Read = read_schema,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._read, self._clock_s = settings, read, clock_s
        self._schemas: OrderedDict[int, CompiledSchema] = OrderedDict()
        self._problems: OrderedDict[int, tuple[float, Reason]] = OrderedDict()
        self._registry_problem: tuple[float, Reason] | None = None
        self._size_chars = 0
        self._lock = threading.Lock()

    def cached(self, schema_id: int) -> CompiledSchema | Reason | None:
        """The schema, or why it cannot be used, or None if the registry must be asked."""
        now_s = self._clock_s()
        with self._lock:
            schema = self._schemas.get(schema_id)
            if schema is not None:
                self._schemas.move_to_end(schema_id)
                return schema
            for expires_s, reason in filter(
                None, (self._problems.get(schema_id), self._registry_problem)
            ):
                if now_s < expires_s:
                    return reason
        return None

    def get(self, schema_id: int) -> CompiledSchema | Reason:
        """The schema, or why it cannot be used; asks the registry if it is not known."""
        cached = self.cached(schema_id)
        if cached is not None:
            return cached
        try:
            schema = CompiledSchema(self._read(self._settings, schema_id))
        except SchemaUnusable as error:
            return self._failed(schema_id, error.reason)
        except RegistryError as error:
            return self._failed(schema_id, error.reason, of_registry=error.has_registry_failed)
        self._add(schema)
        return schema

    def _add(self, schema: CompiledSchema) -> None:
        with self._lock:
            self._registry_problem = None
            replaced = self._schemas.pop(schema.id, None)
            self._size_chars += schema.size_chars - (replaced.size_chars if replaced else 0)
            self._schemas[schema.id] = schema
            while len(self._schemas) > SCHEMAS_MAX or self._size_chars > TEXTS_CHARS_MAX:
                _id, oldest = self._schemas.popitem(last=False)
                self._size_chars -= oldest.size_chars

    def _failed(self, schema_id: int, reason: Reason, *, of_registry: bool = False) -> Reason:
        now_s = self._clock_s()
        with self._lock:
            if of_registry:
                self._registry_problem = (now_s + REGISTRY_RETRY_S, reason)
                return reason
            self._problems.pop(schema_id, None)
            self._problems[schema_id] = (now_s + MISSING_RETRY_S, reason)
            if len(self._problems) > SCHEMAS_MAX:
                self._problems.popitem(last=False)
        return reason


@lru_cache(maxsize=_REGISTRIES_MAX)
def cache_of(settings: RegistrySettings) -> SchemaCache:
    """The cache of a registry, one in each process."""
    return SchemaCache(settings)
