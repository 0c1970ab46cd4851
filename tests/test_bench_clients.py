"""What the clients of `make bench` leave behind when something goes wrong."""

import os
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from bench import raw, rdkafka

SETTINGS = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": 0}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The handles of librdkafka that were made and not destroyed."""
    there: list[int] = []
    make, destroy = rdkafka._handle, rdkafka._rd.rd_kafka_destroy

    def handle(kind: int, conf: int) -> int:
        if len(there) == 2:
            raise RuntimeError("no more")
        there.append(make(kind, conf))
        return there[-1]

    def destroyed(handle: int) -> None:
        there.remove(handle)
        destroy(handle)

    monkeypatch.setattr(rdkafka, "_handle", handle)
    monkeypatch.setattr(rdkafka._rd, "rd_kafka_destroy", destroyed)
    return there


def test_every_member_of_a_group_is_destroyed(made: list[int]) -> None:
    with rdkafka.group(SETTINGS, 2):
        assert len(made) == 2
    assert made == []


def test_members_made_before_one_that_fails_are_destroyed(made: list[int]) -> None:
    with pytest.raises(RuntimeError, match="no more"), rdkafka.group(SETTINGS, 3):
        raise AssertionError("the third cannot be made")
    assert made == []


def test_a_broker_that_closes_the_connection_leaves_no_epoll_open() -> None:
    ours, theirs = socket.socketpair()
    theirs.shutdown(socket.SHUT_WR)
    connection: Any = SimpleNamespace(socket=ours)
    with ours, theirs:
        before = os.listdir("/proc/self/fd")
        with pytest.raises(EOFError) as told:
            raw.one_in_flight_each([connection], b"ask", 4, 1.0)
        assert len(os.listdir("/proc/self/fd")) == len(before), told
