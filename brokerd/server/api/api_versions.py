"""ApiVersions: the APIs of this broker with their versions."""

from typing import Any

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from brokerd.server.requests.request_context import Fields, RequestContext

_API_KEYS = [
    {"api_key": int(key), "min_version": low, "max_version": high}
    for key, (low, high) in ADVERTISED.items()
]
_FEATURES_EPOCH = 0
"""The version of `/feature`, which nobody writes again: there are no features to be finalised."""


def api_versions(context: RequestContext, request: Any) -> Fields:
    """The APIs with their versions; the same for every client."""
    return {"error_code": 0, "api_keys": _API_KEYS, "finalized_features_epoch": _FEATURES_EPOCH}


def refused_api_versions() -> Fields:
    """The answer, in version 0, to a client with a newer version than any served (KIP-511)."""
    own = [each for each in _API_KEYS if each["api_key"] == ApiKey.API_VERSIONS]
    return {"error_code": int(ErrorCode.UNSUPPORTED_VERSION), "api_keys": own}
