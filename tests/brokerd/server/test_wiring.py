"""What serves each API."""

from typing import Any
from unittest.mock import Mock

from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from brokerd.server.wiring import handlers


def test_every_offered_api_has_a_handler_and_no_other_has() -> None:
    no_broker: Any = Mock()  # nothing of it is used before a request comes
    assert handlers(no_broker).keys() | {ApiKey.PRODUCE, ApiKey.FETCH} == ADVERTISED.keys()
