"""Which batches of what a consumer brought are not as they were written."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.cli.crc_check import CrcCheck, crc_check
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.records import Record, encode_batch

BATCH_RECORDS = 10


class Leader:
    """Stands for a client of the broker that leads `t-0`: batches of ten records, some damaged."""

    def __init__(self, batches: int, damaged: tuple[int, ...] = ()) -> None:
        self.fetched: list[int] = []
        self.moves = 0
        self._batches = []
        for number in range(batches):
            batch = bytearray(encode_batch([Record(0, 1, b"k", b"v")] * BATCH_RECORDS))
            batch[:8] = (number * BATCH_RECORDS).to_bytes(8, "big")
            batch[-1] ^= number in damaged
            self._batches.append(bytes(batch))

    def metadata(self, topics: list[str]) -> Any:
        partition = SimpleNamespace(partition_index=0, leader_id=1)
        return SimpleNamespace(topics=[SimpleNamespace(partitions=[partition])])

    def retrying(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except KafkaError:
            return call()

    def to(self, _leader: int, _api_key: Any, fields: dict[str, Any]) -> Any:
        offset = fields["topics"][0]["partitions"][0]["fetch_offset"]
        self.fetched.append(offset)
        error, self.moves = (6, self.moves - 1) if self.moves else (0, 0)
        found = self._batches[offset // BATCH_RECORDS :][:2]
        row = SimpleNamespace(error_code=error, records=b"".join(found))
        return SimpleNamespace(responses=[SimpleNamespace(partitions=[row])])


def brought(*offsets: int) -> list[Any]:
    return [
        SimpleNamespace(
            error=lambda: None, topic=lambda: "t", partition=lambda: 0, offset=lambda o=offset: o
        )
        for offset in offsets
    ]


def check(leader: Leader) -> CrcCheck:
    return CrcCheck(leader)  # type: ignore[arg-type]


def test_the_first_damaged_batch_of_what_was_brought_is_named() -> None:
    assert check(Leader(6, damaged=(3, 4))).damaged(brought(*range(5, 50))) == {("t", 0): 30}


def test_what_lies_behind_what_was_brought_says_nothing_yet() -> None:
    looked = check(Leader(6, damaged=(3,)))
    assert looked.damaged(brought(*range(20))) == {}
    assert looked.damaged(brought(*range(20, 35))) == {("t", 0): 30}


def test_a_batch_is_read_once_however_many_polls_bring_it() -> None:
    leader = Leader(4)
    looked = check(leader)
    for first in range(0, 40, 5):
        assert looked.damaged(brought(*range(first, first + 5))) == {}
    assert leader.fetched == [0, 20]


def test_a_leader_that_moved_is_found_anew_and_one_that_cannot_tell_stops_nobody() -> None:
    leader = Leader(2, damaged=(1,))
    leader.moves = 1
    assert check(leader).damaged(brought(*range(20))) == {("t", 0): 10}
    leader.moves = 2
    assert check(leader).damaged(brought(*range(20))) == {}


def test_errors_among_the_messages_are_passed_over() -> None:
    lost = SimpleNamespace(error=lambda: ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert check(Leader(1)).damaged([lost]) == {}


@pytest.mark.parametrize(
    "settings", [{"check.crcs": " False "}, {"security.protocol": "SASL_PLAINTEXT"}]
)
def test_nobody_looks_where_it_is_not_wanted_or_cannot_be(settings: dict[str, str]) -> None:
    assert crc_check([("127.0.0.1", 1)], settings) is None
