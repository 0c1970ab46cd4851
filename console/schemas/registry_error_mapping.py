"""Converts errors of a schema registry to GatewayErrors, which pages and plans handle."""

from collections.abc import Iterator
from contextlib import contextmanager

from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused
from monitoring.schema_registry.connection import RegistryError

_MISSING = ("subject_missing", "version_missing")


@contextmanager
def raising_gateway_errors() -> Iterator[None]:
    """Raises NotFound, ClusterUnavailable or Refused in place of RegistryError."""
    try:
        yield
    except RegistryError as error:
        if error.reason.code in _MISSING:
            raise NotFound(error.reason) from error
        kind = ClusterUnavailable if error.has_registry_failed else Refused
        raise kind(error.reason) from error
