"""What tests of the server share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.brokerd.server.group_broker import GroupBroker

NO_DELAY = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1"}


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[GroupBroker]:
    """A group service that serves, with a topic `t` to commit offsets for."""
    one = await GroupBroker(tmp_path, **NO_DELAY).with_offsets_topic()
    one.create_topic("t", 2)
    yield one
    await one.stop()
