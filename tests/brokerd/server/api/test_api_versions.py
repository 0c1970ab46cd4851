"""What ApiVersions tells."""

from collections.abc import Callable
from typing import Any

from brokerd.protocol.api_keys import ApiKey

Ask = Callable[..., Any]


def test_no_features_are_told(ask: Ask) -> None:
    fields = {"client_software_name": "librdkafka", "client_software_version": "1.0"}
    answer = ask(ApiKey.API_VERSIONS, 4, fields)
    assert answer.error_code == 0
    assert answer.api_keys
    assert answer.supported_features == answer.finalized_features == ()
