"""One table of handlers."""

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.server.api.table import join_tables
from brokerd.server.requests.context import Fields, RequestContext


def handler(broker: object, context: RequestContext, request: object) -> Fields:
    return {}


def test_two_handlers_for_one_api_are_a_mistake() -> None:
    assert join_tables({ApiKey.HEARTBEAT: handler}, {ApiKey.METADATA: handler}).keys() == {12, 3}
    with pytest.raises(ValueError, match="HEARTBEAT"):
        join_tables({ApiKey.HEARTBEAT: handler}, {ApiKey.HEARTBEAT: handler})
