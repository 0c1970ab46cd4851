"""A process that does not do its work, with the one of searches."""

import os
import signal

import pytest

from monitoring.gateway.child_process import ChildProcess
from monitoring.gateway.errors import Unreadable


@pytest.fixture
def child():
    """It waits for a search."""
    process = ChildProcess("monitoring.records.search_process", 512 << 20)
    yield process
    process.end()
    assert not process.is_alive()


def test_the_error_of_a_process_that_died_has_its_signal(child):
    os.kill(child.id, signal.SIGKILL)
    with pytest.raises(Unreadable, match="SIGKILL") as caught:
        child.receive(60)
    assert caught.value.retriable


def test_a_process_that_sends_nothing_in_time_is_an_error(child):
    with pytest.raises(Unreadable, match="within 0 seconds"):
        child.receive(0.1)
    assert child.is_alive()
