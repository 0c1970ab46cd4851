"""All imports of kio, which has Kafka's message schemas. It registers its types with hypothesis if
that is installed: half a second at each start, and a folder `.hypothesis`. So hypothesis is not to
be found while kio is imported, unless this process uses it already.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _not_found(module: str) -> Iterator[None]:
    """Lets an import of a module that is not loaded yet fail, as if it were not installed."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # the documented way to say so
    try:
        yield
    finally:
        del sys.modules[module]


with _not_found("hypothesis"):
    from kio.index import KioIndexError, load_request_schema, load_response_schema
    from kio.schema.index import api_key_map, schema_name_map
    from kio.serial import entity_reader
    from kio.serial.errors import DecodeError

__all__ = [
    "DecodeError",
    "KioIndexError",
    "api_key_map",
    "entity_reader",
    "load_request_schema",
    "load_response_schema",
    "schema_name_map",
]
