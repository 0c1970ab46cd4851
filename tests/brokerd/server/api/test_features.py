"""UpdateFeatures, and what ApiVersions tells of features and asks of a client's software."""

from collections.abc import Callable
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey

Ask = Callable[..., Any]


def update(*names: str) -> dict[str, Any]:
    rows = [{"feature": name, "max_version_level": 1, "upgrade_type": 1} for name in names]
    return {"timeout": 5000, "feature_updates": rows, "validate_only": False}


def test_no_feature_can_be_changed(ask_controller: Ask) -> None:
    answer = ask_controller(ApiKey.UPDATE_FEATURES, 1, update("metadata.version", ""))
    assert answer.error_code == 0
    assert [(each.feature, each.error_code) for each in answer.results] == [
        ("metadata.version", ErrorCode.INVALID_REQUEST),
        ("", ErrorCode.INVALID_REQUEST),
    ]


def test_features_are_the_controllers_business(ask_other: Ask) -> None:
    answer = ask_other(ApiKey.UPDATE_FEATURES, 1, update("metadata.version"))
    assert answer.error_code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("name", "code"),
    [("librdkafka", 0), ("a.b-2", 0), ("a", 0), *((bad, 42) for bad in ("", "a b", "-a", "é"))],
)
def test_a_client_names_its_software_in_plain_letters(ask: Ask, name: str, code: int) -> None:
    fields = {"client_software_name": name, "client_software_version": "1.0"}
    answer = ask(ApiKey.API_VERSIONS, 4, fields)
    assert (answer.error_code, bool(answer.api_keys)) == (code, not code)
    assert answer.supported_features == answer.finalized_features == ()
