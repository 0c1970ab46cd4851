"""What ApiVersions tells of features, and asks of a client's software."""

from collections.abc import Callable
from typing import Any

import pytest

from brokerd.protocol.api_keys import ApiKey

Ask = Callable[..., Any]


@pytest.mark.parametrize(
    ("name", "code"),
    [("librdkafka", 0), ("a.b-2", 0), ("a", 0), *((bad, 42) for bad in ("", "a b", "-a", "é"))],
)
def test_a_client_names_its_software_in_plain_letters(ask: Ask, name: str, code: int) -> None:
    fields = {"client_software_name": name, "client_software_version": "1.0"}
    answer = ask(ApiKey.API_VERSIONS, 4, fields)
    assert (answer.error_code, bool(answer.api_keys)) == (code, not code)
    assert answer.supported_features == answer.finalized_features == ()
