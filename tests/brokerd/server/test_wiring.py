"""One table of handlers."""

from typing import Any
from unittest.mock import Mock

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.versions import ADVERTISED
from brokerd.server.requests.context import Fields, RequestContext
from brokerd.server.wiring import handlers, join_tables


def handler(context: RequestContext, request: object) -> Fields:
    return {}


def test_every_offered_api_has_a_handler_and_no_other_has() -> None:
    no_broker: Any = Mock()  # nothing of it is used before a request comes
    assert handlers(no_broker).keys() | {ApiKey.PRODUCE, ApiKey.FETCH} == ADVERTISED.keys()


def test_two_handlers_for_one_api_are_a_mistake() -> None:
    assert join_tables({ApiKey.HEARTBEAT: handler}, {ApiKey.METADATA: handler}).keys() == {12, 3}
    with pytest.raises(ValueError, match="HEARTBEAT"):
        join_tables({ApiKey.HEARTBEAT: handler}, {ApiKey.HEARTBEAT: handler})
