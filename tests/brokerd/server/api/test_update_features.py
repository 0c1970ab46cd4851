"""UpdateFeatures: there are no features to change."""

from collections.abc import Callable
from typing import Any

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
