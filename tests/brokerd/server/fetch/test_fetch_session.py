"""A fetch session reads what moved: real replicas, no broker."""

from pathlib import Path

import pytest

from brokerd.protocol.fetch_request import FetchPartition
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session_cache import FetchContext
from tests.brokerd.log.support import batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.fetch.test_fetch_session_cache import (
    NOW_MS,
    finish,
    opened,
    reply,
    request,
    sessions,
    wanted,
)


def read(fetch: FetchContext, partitions: dict[str, Partition]) -> list[str]:
    """Reads what is to be read, as an attempt does, and finishes; the topics that were read."""
    asked, replies = fetch.next_partitions(), []
    assert fetch.session is not None
    for each in asked:
        partition = partitions[each.topic]
        found = reply(each.topic, partition.high_watermark)
        found = found._replace(log_start_offset=partition.log.log_start_offset)
        fetch.session.note_read(each, partition, found)
        replies.append(found)
    finish(fetch, replies, NOW_MS)
    return [each.topic for each in asked]


@pytest.fixture
def led_here(tmp_path: Path) -> dict[str, Partition]:
    """Three partitions without records."""
    partitions = {}
    for name in ("a", "b", "c"):
        partitions[name] = one = Partition(name, 0, 1, open_log(tmp_path / name))
        one.apply(state(1, leader=1, topic=name, replicas=(1,), isr=(1,)), NOW_MS)
    return partitions


def test_only_what_has_more_dirty_is_read_again(led_here: dict[str, Partition]) -> None:
    cache = sessions()
    session_id = opened(cache, "a", "b", "c")

    def poll(epoch: int, changed: list[FetchPartition] | None = None) -> list[str]:
        return read(cache.begin(request(session_id, epoch, changed), False, NOW_MS), led_here)

    assert poll(1) == ["a", "b", "c"]
    assert poll(2) == []
    led_here["b"].append([batch()], NOW_MS)
    assert poll(3) == ["b"]
    assert poll(4) == ["b"]  # its records were not asked past
    assert poll(5, wanted("b", offset=1)) == ["b"]
    assert poll(6) == []
    led_here["b"].delete_records(1)
    assert poll(7) == ["b"]
    led_here["c"].resign()
    led_here["c"].resign()
    assert (poll(8), led_here["a"].listeners != {}) == (["b", "c"], True)


def test_who_waits_for_a_session_hears_of_each_move(led_here: dict[str, Partition]) -> None:
    cache, heard = sessions(), list[Partition]()
    session_id = opened(cache, "a", "b", "c")
    fetch = cache.begin(request(session_id, 1), False, NOW_MS)
    read(fetch, led_here)
    assert (fetch.next_partitions(), fetch.has_clean, fetch.has_more_dirty) == ([], True, False)
    assert fetch.session is not None
    fetch.session.listeners[heard.append] = None
    led_here["a"].append([batch()], NOW_MS)
    assert (heard, fetch.has_more_dirty) == ([led_here["a"]], True)
    assert fetch.wanted_of(led_here["a"]) == wanted("a")[0]


def test_a_session_listens_to_nothing_that_is_forgotten_gone_or_led_elsewhere(
    led_here: dict[str, Partition],
) -> None:
    cache = sessions()
    session_id = opened(cache, "a", "b", "c")
    read(cache.begin(request(session_id, 1), False, NOW_MS), led_here)

    def heard() -> list[str]:
        return [name for name, each in led_here.items() if each.listeners]

    assert heard() == ["a", "b", "c"]
    led_here["a"].resign()
    cache.begin(request(session_id, 2, forgotten=("b",)), False, NOW_MS)
    assert heard() == ["c"]
    cache.begin(request(session_id, -1), False, NOW_MS)
    assert heard() == []
