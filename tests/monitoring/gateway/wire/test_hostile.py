"""Clusters with invalid answers: the result of a pass, and its limits."""

import struct
import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from monitoring.clock import now_ms
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import event_loop
from monitoring.gateway.errors import GatewayError, OverLimit, Unsupported
from monitoring.gateway.wire import (
    cluster_client,
    connection,
    groups,
    list_offsets,
    log_dirs,
    metadata,
    offset_fetch,
)
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.response_limits import InvalidParts
from monitoring.sampling.sample_reader import SampleReader
from tests.monitoring.gateway.wire.answers import (
    commits_answer,
    decoded_metadata,
    describe_answer,
    list_answer,
    log_dirs_answer,
    metadata_answer,
    offsets_answer,
)
from tests.support.hostile_broker import hostile_broker
from tests.support.hostile_http import MIB, memory_below

ONE = (1, (1,), (1,))
ASSIGNED = struct.pack(">hi", 0, 1) + struct.pack(">h", 1) + b"a" + struct.pack(">ii", 1, 0)


def cluster(topics=None, version=metadata.WITH_IDS):
    """The answers of one broker; a test replaces those that lie."""
    named = topics or {"a": {0: ONE}}

    def known(port: int) -> bytes:
        return metadata_answer(named, (1,), 1, ("127.0.0.1", port), version)[4:]

    return {
        metadata.API_KEY: known,
        list_offsets.API_KEY: lambda _: offsets_answer({"a": {0: (0, 7)}})[4:],
        offset_fetch.API_KEY: lambda _: commits_answer({"g": {"a": [(0, 5, "", 0)]}})[4:],
        groups.LIST_KEY: lambda _: list_answer([("g", "Stable")])[4:],
        groups.DESCRIBE_KEY: lambda _: describe_answer({"g": [("m", ASSIGNED)]})[4:],
        log_dirs.API_KEY: lambda _: log_dirs_answer([{"a": {0: (100, False)}}])[4:],
    }


def read(answers, timeout_s=60, highest=None) -> ClusterAnswers:
    async def once(port):
        client = ClusterClient(ClientSettings((("127.0.0.1", port),)))
        reader = SampleReader(client, None, now_ms)
        try:
            return await reader.read(timeout_s)
        finally:
            await reader.close()

    with hostile_broker(answers, highest) as port:
        return event_loop.run(once(port), 120)


def test_nothing_of_a_valid_cluster_is_refused():
    told = read(cluster())
    assert (told.log_end.tolist(), told.size_bytes.tolist()) == ([7], [100])
    assert (told.failures, told.invalid.messages(), told.groups_complete) == ([], [], True)
    assert told.answering_brokers == {1}


def test_a_broker_without_metadata_version_12_is_read_and_its_topics_have_no_ids():
    old = cluster(version=metadata.WITHOUT_IDS)
    assert read(old, highest={metadata.API_KEY: 11}).metadata.topic_ids == ("",)
    assert read(cluster()).metadata.topic_ids != ("",)
    with pytest.raises(Unsupported, match="Metadata version 7"):
        read(old, highest={metadata.API_KEY: 6})


def test_partition_number_20_million_is_refused_and_reported():
    with memory_below(32 * MIB):
        told = read(cluster({"a": {20_000_000: ONE}}))
    assert told.metadata.row_count == 1
    assert told.invalid.messages()[0] == "topic a: partition 20000000, but it has 1 partitions"


def test_an_answer_that_is_too_large_makes_only_its_part_unknown(monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_BYTES_MAX", 4096)
    answers = cluster()
    answers[groups.LIST_KEY] = lambda _: bytes(8192)
    told = read(answers)
    assert told.log_end.tolist() == [7]
    assert told.coordinators == []
    assert not told.groups_complete
    assert told.answering_brokers == {1}
    assert "an answer with an invalid size of 8196 bytes" in told.invalid.messages()[0]


class Torn(bytes):
    """An answer that claims to be longer than what comes of it."""

    def __len__(self) -> int:
        return 2 * MIB


def test_a_large_answer_that_does_not_come_in_time_is_reported_and_the_broker_is_up():
    answers = cluster()
    answers[groups.LIST_KEY] = lambda _: Torn(100)
    told = read(answers, timeout_s=5)
    assert told.log_end.tolist() == [7]
    assert (told.answering_brokers, told.failures, told.groups_complete) == ({1}, [], False)
    reason = f"broker 1: an answer of {2 * MIB + 4} bytes does not come within 5 s"
    assert told.invalid.messages() == [reason]


def test_all_answers_together_have_a_size_limit(monkeypatch):
    monkeypatch.setattr(connection, "PASS_BYTES_MAX", 1000)
    answers = cluster()
    answers[log_dirs.API_KEY] = lambda _: bytes(2000)
    told = read(answers)
    assert told.size_bytes.tolist() == [-1]
    assert "have more than 1000 bytes" in told.invalid.messages()[0]


def test_a_cluster_of_too_many_partitions_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(metadata.response_limits, "PARTITIONS_MAX", 1)
    with pytest.raises(OverLimit, match="more than 1 partitions"):
        read(cluster({"a": {0: ONE, 1: ONE}}))


def test_large_answers_are_decoded_in_a_thread(monkeypatch):
    threads = {}

    def noted(name, decode):
        def decoded(*given):
            threads[name] = threading.current_thread().name
            return decode(*given)

        return decoded

    monkeypatch.setattr(cluster_client, "_LARGE_BYTES", 1)
    decoders = ((metadata, "decode"), (offset_fetch, "decode"))
    for module, name in (*decoders, (groups, "decode_list"), (groups, "decode_describe")):
        monkeypatch.setattr(module, name, noted(module.__name__ + name, getattr(module, name)))
    told = read(cluster())
    assert [len(member.assigned) for member in told.coordinators[0].described[0].members] == [1]
    assert len(threads) == 4
    assert not any(name.startswith("gateway-") for name in threads.values()), threads


KNOWN = decoded_metadata({"a": {0: ONE}, "b": {0: ONE, 1: ONE}})
DECODERS = {
    **{
        f"metadata {version}": (
            metadata_answer({"a": {0: ONE, 1: ONE}, "b": {0: ONE}}, version=version),
            partial(metadata.decode, version=version),
        )
        for version in metadata.VERSIONS
    },
    "offsets": (
        offsets_answer({"a": {0: (0, 7)}, "b": {1: (0, 8)}}),
        lambda data: list_offsets.decode_into(
            ClusterAnswers.empty(KNOWN).log_end, KNOWN, 1, data, InvalidParts()
        ),
    ),
    "commits": (
        commits_answer({"g": {"a": [(0, 5, "", 0), (1, 6, "some", 0)]}, "h": {}}),
        lambda data: offset_fetch.decode(data, "gh"),
    ),
    "list": (
        list_answer([("g", "Stable"), ("h", "Empty")]),
        lambda data: groups.decode_list(data, InvalidParts()),
    ),
    "describe": (
        describe_answer({"g": [("m", ASSIGNED), ("n", b"")]}),
        lambda data: groups.decode_describe(data, "g", InvalidParts()),
    ),
    **{
        f"log dirs {version}": (
            log_dirs_answer([{"a": {0: (5, False)}}, {"b": {1: (9, False)}}], version),
            partial(log_dirs.decode_into, ClusterAnswers.empty(KNOWN), 1, version=version),
        )
        for version in log_dirs.VERSIONS
    },
}
strange = st.sampled_from([b"\xff", b"\x7f", b"\x80", b"\x00", b"\xff\xff\xff\xff", b"\xff\xfe"])


@pytest.mark.parametrize("name", DECODERS)
@given(st.lists(st.tuples(st.integers(8, 400), strange), min_size=1, max_size=4))
def test_decoding_any_answer_ends(name, changes):
    answer, decode = DECODERS[name]
    data = bytearray(answer)
    for at, piece in changes:
        at = 8 + at % (len(data) - 8)
        data[at : at + len(piece)] = piece
    try:
        decode(bytes(data))
    except (struct.error, ValueError, GatewayError, KafkaError):
        pass
