"""Fetch sessions without a broker: full, incremental, forgotten, fenced, evicted, bounded."""

from itertools import count
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.protocol.fetch_request import FetchPartition, FetchRequest
from brokerd.protocol.fetch_response import FetchReply
from brokerd.server.fetch import fetch_session_cache
from brokerd.server.fetch.fetch_session import NAME_CHARS
from brokerd.server.fetch.fetch_session_cache import STALE_MS, FetchContext, FetchSessionCache

NOW_MS = 1_700_000_000_000


def sessions(slots: int = 10) -> FetchSessionCache:
    return FetchSessionCache(slots, count(1).__next__)


def wanted(*names: str, offset: int = 0) -> list[FetchPartition]:
    return [FetchPartition(name, 0, offset, 1000) for name in names]


def request(
    session_id: int = 0,
    epoch: int = 0,
    partitions: list[FetchPartition] | None = None,
    forgotten: tuple[str, ...] = (),
) -> FetchRequest:
    keys = [each.key for each in wanted(*forgotten)]
    return FetchRequest(-1, 500, 1, 1 << 20, 0, session_id, epoch, partitions or [], keys)


def reply(name: str, high_watermark: int = 0, **changes: Any) -> FetchReply:
    return FetchReply(name, 0, 0, high_watermark, high_watermark, 0)._replace(**changes)


def finish(
    fetch: FetchContext, replies: list[FetchReply], now_ms: int
) -> tuple[int, list[FetchReply]]:
    """(session id, replies to send)."""
    return fetch.session_id_to_answer(now_ms), fetch.take_answers(replies)


def opened(cache: FetchSessionCache, *names: str, now_ms: int = NOW_MS) -> int:
    fetch = cache.begin(request(0, 0, wanted(*names)), False, now_ms)
    return finish(fetch, [reply(name) for name in names], now_ms)[0]


def code_of(cache: FetchSessionCache, asked: FetchRequest, *, ids: bool = False) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        cache.begin(asked, ids, NOW_MS)
    return caught.value.code


def test_a_request_of_epoch_0_gets_a_session_and_every_reply() -> None:
    cache = sessions()
    fetch = cache.begin(request(0, 0, wanted("a", "b")), False, NOW_MS)
    assert [each.topic for each in fetch.next_partitions()] == ["a", "b"]
    session_id, replies = finish(fetch, [reply("a"), reply("b")], NOW_MS)
    assert (session_id, len(replies), len(cache), cache.partition_count) == (1, 2, 1, 2)


def test_a_session_can_begin_without_partitions_and_get_them_later() -> None:
    cache = sessions()
    session_id = opened(cache)
    assert (session_id, len(cache), cache.partition_count) == (1, 1, 0)
    fetch = cache.begin(request(session_id, 1, wanted("a")), False, NOW_MS)
    assert finish(fetch, [reply("a")], NOW_MS) == (session_id, [reply("a")])


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_partition_named_again_is_read_once_as_it_was_asked_for_last(epoch: int) -> None:
    asked = wanted("a", "b") + wanted("a", offset=7) * 1000
    fetch = sessions().begin(request(0, epoch, asked), False, NOW_MS)
    assert [(each.topic, each.offset) for each in fetch.next_partitions()] == [("a", 7), ("b", 0)]


def test_a_request_of_epoch_minus_1_gets_none_and_ends_the_one_it_names() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    fetch = cache.begin(request(session_id, -1, wanted("a")), False, NOW_MS)
    assert finish(fetch, [reply("a")], NOW_MS) == (0, [reply("a")])
    assert (len(cache), cache.partition_count) == (0, 0)


def test_a_new_full_request_replaces_the_session_it_names() -> None:
    cache = sessions()
    first = opened(cache, "a")
    fetch = cache.begin(request(first, 0, wanted("b")), False, NOW_MS)
    assert finish(fetch, [reply("b")], NOW_MS)[0] not in (0, first)
    assert (len(cache), cache.partition_count) == (1, 1)


def test_an_incremental_answer_leaves_out_what_has_nothing_new() -> None:
    cache = sessions()
    session_id = opened(cache, "a", "b", "c", "d")
    fetch = cache.begin(request(session_id, 1), False, NOW_MS)
    assert [each.topic for each in fetch.next_partitions()] == ["a", "b", "c", "d"]
    replies = [
        reply("a"), reply("b", 5), reply("c", records=b"some"), reply("d", log_start_offset=2),
    ]  # fmt: skip
    assert finish(fetch, replies, NOW_MS) == (session_id, replies[1:])
    again = cache.begin(request(session_id, 2), False, NOW_MS)
    assert finish(again, [*replies[:2], reply("d", log_start_offset=2)], NOW_MS)[1] == []


def test_an_error_is_told_every_time_and_so_is_its_end() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    refused = reply("a", -1, error=6)
    for epoch in (1, 2):
        fetch = cache.begin(request(session_id, epoch), False, NOW_MS)
        assert finish(fetch, [refused], NOW_MS)[1] == [refused]
    fetch = cache.begin(request(session_id, 3), False, NOW_MS)
    assert finish(fetch, [reply("a")], NOW_MS)[1] == [reply("a")]


def test_partitions_with_records_go_behind_the_others() -> None:
    cache = sessions()
    session_id = opened(cache, "a", "b", "c")
    fetch = cache.begin(request(session_id, 1), False, NOW_MS)
    finish(fetch, [reply("a", records=b"some"), reply("b"), reply("c")], NOW_MS)
    fetch = cache.begin(request(session_id, 2), False, NOW_MS)
    assert [each.topic for each in fetch.next_partitions()] == ["b", "c", "a"]


def test_partitions_are_added_changed_and_forgotten() -> None:
    cache = sessions()
    session_id = opened(cache, "a", "b")
    changed = [*wanted("b", offset=7), *wanted("c")]
    fetch = cache.begin(request(session_id, 1, changed, ("a",)), False, NOW_MS)
    assert [(each.topic, each.offset) for each in fetch.next_partitions()] == [("b", 7), ("c", 0)]
    assert cache.partition_count == 2
    told = finish(fetch, [reply("b"), reply("c")], NOW_MS)[1]
    assert told == [reply("c")]  # b has nothing new at its new offset


def test_a_session_by_ids_knows_the_names_that_topics_had() -> None:
    names: dict[bytes, str] = {}
    cache = FetchSessionCache(10, count(1).__next__, lambda: names)
    ids = (bytes([number] * 16) for number in (1, 2, 3))
    known, late, never = (FetchPartition("", 0, 0, 1000, topic_id=each) for each in ids)
    names[known.topic_id] = "known"
    first = cache.begin(request(0, 0, [known, never]), True, NOW_MS)
    replies = [FetchReply("", 0, 0, topic_id=each.topic_id) for each in (known, never)]
    assert first.name_of(known) is None  # it is no session yet
    session_id = finish(first, replies, NOW_MS)[0]
    cache.begin(request(session_id, 1, [late]), True, NOW_MS)
    names[late.topic_id] = "late"
    cache.begin(request(session_id, 2, [known._replace(offset=7)]), True, NOW_MS)
    names.clear()
    fetch = cache.begin(request(session_id, 3), True, NOW_MS)
    assert [fetch.name_of(each) for each in (known, late, never)] == ["known", "late", None]


def test_a_session_that_forgets_all_its_partitions_ends() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    fetch = cache.begin(request(session_id, 1, forgotten=("a",)), False, NOW_MS)
    assert finish(fetch, [], NOW_MS) == (0, [])
    assert len(cache) == 0


def test_unknown_sessions_and_wrong_epochs_are_refused() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    assert code_of(cache, request(99, 1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert code_of(cache, request(session_id, 2)) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    mixed = code_of(cache, request(session_id, 1), ids=True)
    assert mixed is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    cache.begin(request(session_id, 1), False, NOW_MS)
    assert code_of(cache, request(session_id, 1)) is ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_an_answer_to_a_request_that_was_overtaken_is_refused() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    slow = cache.begin(request(session_id, 1), False, NOW_MS)
    cache.begin(request(session_id, 2), False, NOW_MS)
    with pytest.raises(KafkaError) as caught:
        finish(slow, [reply("a")], NOW_MS)
    assert caught.value.code is ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_epochs_go_round_to_1() -> None:
    cache = sessions()
    session_id = opened(cache, "a")
    cache._sessions[session_id].epoch = INT32_MAX
    cache.begin(request(session_id, INT32_MAX), False, NOW_MS)
    cache.begin(request(session_id, 1), False, NOW_MS)


def test_without_a_free_slot_there_is_no_session_until_one_is_stale() -> None:
    cache = sessions(slots=2)
    first, second = opened(cache, "a"), opened(cache, "b")
    assert opened(cache, "c") == 0
    cache.begin(request(first, 1), False, NOW_MS + STALE_MS)
    third = opened(cache, "c", now_ms=NOW_MS + STALE_MS + 1)
    assert third != 0
    assert code_of(cache, request(second, 1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    cache.begin(request(first, 2), False, NOW_MS)
    assert len(cache) == 2


def test_a_larger_session_takes_the_place_of_an_old_smaller_one_that_is_in_use() -> None:
    cache = sessions(slots=2)
    large, small = opened(cache, "a", "b"), opened(cache, "c")
    later_ms = NOW_MS + STALE_MS + 1
    for session_id in (large, small):
        cache.begin(request(session_id, 1), False, later_ms)
    assert opened(cache, "d", now_ms=later_ms) == 0
    assert opened(cache, "d", "e", "f", now_ms=later_ms) != 0
    assert code_of(cache, request(small, 2)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


class Counting(dict[Any, Any]):
    """Counts what is looked at by going through it."""

    looked_at = 0

    def values(self) -> Any:
        for value in super().values():
            self.looked_at += 1
            yield value


def test_fetchers_that_get_no_session_do_not_have_all_looked_at_each_time() -> None:
    cache = sessions(slots=100)
    ids = [opened(cache, "a", "b", now_ms=NOW_MS + number) for number in range(100)]
    known = cache._sessions = Counting(cache._sessions)
    settled_ms = NOW_MS + STALE_MS + 200
    for epoch, now_ms in ((1, NOW_MS + 500), (2, settled_ms)):
        for session_id in ids:
            cache.begin(request(session_id, epoch), False, now_ms)
        known.looked_at = 0
        for _ in range(100):
            assert opened(cache, "c", "d", now_ms=now_ms) == 0
        assert known.looked_at <= 3 * 100
    cache.begin(request(ids[50], 3, forgotten=("b",)), False, settled_ms)
    assert opened(cache, "c", "d", now_ms=settled_ms) != 0, "there is a smaller one now"
    assert code_of(cache, request(ids[50], 4)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert opened(cache, "c", "d", now_ms=settled_ms) == 0


def test_no_slots_means_no_sessions() -> None:
    assert opened(sessions(slots=0), "a") == 0


def test_all_sessions_together_have_so_many_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_session_cache, "PARTITIONS_MAX", 3)
    cache = sessions()
    session_id = opened(cache, "a", "b")
    assert opened(cache, "c", "d") == 0
    fetch = cache.begin(request(session_id, 1, wanted("c", "d")), False, NOW_MS)
    assert finish(fetch, [reply("a")], NOW_MS) == (0, [reply("a")])
    assert (len(cache), cache.partition_count) == (0, 0)


def test_long_names_count_as_several_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_session_cache, "PARTITIONS_MAX", 4)
    cache = sessions()
    assert opened(cache, "x" * 4 * NAME_CHARS) == 0, "more than there is room for"
    assert opened(cache, "x" * 3 * NAME_CHARS) > 0
    assert opened(cache, "a") == 0
    later_ms = NOW_MS + STALE_MS + 1
    grown = opened(cache, "a", now_ms=later_ms)
    assert len(cache) == 1
    cache.begin(request(grown, 1, wanted("y" * 2 * NAME_CHARS)), False, later_ms)
    assert cache.partition_count == 2
    cache.begin(request(grown, 2, wanted("b"), ("y" * 2 * NAME_CHARS,)), False, later_ms)
    cache.begin(request(grown, 3, wanted("c", "d")), False, later_ms)
    assert cache.partition_count == 4
    cache.begin(request(grown, 4, wanted("e")), False, later_ms)
    assert (len(cache), cache.partition_count) == (0, 0)


def test_where_all_partitions_are_taken_those_make_room_that_nobody_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch_session_cache, "PARTITIONS_MAX", 4)
    cache = sessions()
    gone = [opened(cache, name) for name in "abc"]
    used = opened(cache, "d")
    later_ms = NOW_MS + STALE_MS + 1
    cache.begin(request(used, 1), False, later_ms)
    assert opened(cache, "e", "f", now_ms=NOW_MS) == 0
    assert opened(cache, "e", "f", "g", "h", "i", now_ms=later_ms) == 0  # never fits
    assert len(cache) == 4
    opened(cache, "e", "f", now_ms=later_ms)
    assert (len(cache), cache.partition_count) == (3, 4)
    assert opened(cache, "g", "h", now_ms=later_ms) == 0  # the rest are in use but for one
    assert code_of(cache, request(gone[2], 1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    cache.begin(request(used, 2), False, later_ms)


def test_one_that_grows_takes_the_room_of_those_that_nobody_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch_session_cache, "PARTITIONS_MAX", 4)
    cache = sessions()
    growing, gone = opened(cache, "a"), opened(cache, "b", "c", "d")
    later_ms = NOW_MS + STALE_MS + 1
    fetch = cache.begin(request(growing, 1, wanted("e")), False, later_ms)
    assert finish(fetch, [reply("a"), reply("e")], later_ms)[0] == growing
    assert code_of(cache, request(gone, 1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (len(cache), cache.partition_count) == (1, 2)


class Client(RuleBasedStateMachine):
    """A fetcher with the session it thinks it has, against the partitions it means."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = sessions(slots=3)
        self.meant: set[str] = set()
        self.session_id = self.epoch = 0

    @rule(names=st.sets(st.sampled_from("abcde"), min_size=1))
    def begins_anew(self, names: set[str]) -> None:
        self.meant = set(names)
        fetch = self.cache.begin(request(self.session_id, 0, wanted(*names)), False, NOW_MS)
        self.session_id, _ = finish(fetch, [reply(name) for name in names], NOW_MS)
        self.epoch = 1

    @rule(added=st.sets(st.sampled_from("abcde")), gone=st.sets(st.sampled_from("abcde")))
    def goes_on(self, added: set[str], gone: set[str]) -> None:
        if not self.session_id:
            return
        asked = request(self.session_id, self.epoch, wanted(*added), tuple(gone))
        fetch = self.cache.begin(asked, False, NOW_MS)
        self.meant = (self.meant | added) - gone
        assert {each.topic for each in fetch.next_partitions()} == self.meant
        answered, _ = finish(fetch, [reply(name) for name in self.meant], NOW_MS)
        assert answered == (self.session_id if self.meant else 0)
        self.session_id, self.epoch = answered, self.epoch + 1

    @rule()
    def another_comes(self) -> None:
        opened(self.cache, "x", now_ms=NOW_MS)

    @invariant()
    def the_count_is_right(self) -> None:
        held = [len(each.partitions) for each in self.cache._sessions.values()]
        assert self.cache.partition_count == sum(held)
        assert len(held) <= 3


Client.TestCase.settings = settings(max_examples=60, stateful_step_count=20)
TestClient = Client.TestCase
