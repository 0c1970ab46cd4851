"""The admin port's connections, kept open from tick to tick, may close at any moment."""

import asyncio
import threading

import pytest

from monitoring.gateway import brokerd_sample
from monitoring.gateway.brokerd_admin_urls import LOOPBACK, AdminUrls
from monitoring.gateway.brokerd_sample import BrokerdStatsReader
from monitoring.gateway.errors import ClusterUnavailable, OverLimit, Refused
from monitoring.gateway.wire.answers import ClusterAnswers, LogDir
from tests.monitoring.gateway.wire.answers import decoded_metadata
from tests.support.hostile_http import MIB, answering, memory_below, zstd_bomb

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def test_a_request_is_retried_if_the_server_closes_a_reused_connection():
    served = 0

    async def close_at_the_second_request(reader, writer):
        nonlocal served
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    server = await asyncio.start_server(close_at_the_second_request, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    source = BrokerdStatsReader(AdminUrls({"1": f"http://127.0.0.1:{port}"}, "token", (LOOPBACK,)))
    try:
        for _ in range(2):
            assert await source._get(1, "/v1/broker", timeout_s=5) == {}
        assert served == 2
    finally:
        await source.close()
        server.close()


async def test_a_dns_lookup_that_hangs_ends_at_the_time_limit(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(brokerd_sample, "check_url", lambda *_: answered.wait(30))
    source = BrokerdStatsReader(AdminUrls({"1": "http://broker.example:9192"}, "token"))
    try:
        async with asyncio.timeout(10):
            with pytest.raises(ClusterUnavailable, match="timed out"):
                await source._get(1, "/v1/broker", timeout_s=0.1)
    finally:
        answered.set()
        await source.close()


async def test_a_compressed_answer_is_refused_without_decoding():
    with answering(zstd_bomb()) as (port, _), memory_below(64 * MIB):
        urls = AdminUrls({"1": f"http://127.0.0.1:{port}"}, "token", (LOOPBACK,))
        source = BrokerdStatsReader(urls)
        try:
            with pytest.raises(OverLimit, match="zstd"):
                await source._get(1, "/v1/broker", timeout_s=60)
        finally:
            await source.close()


ONE = (1, (1,), (1,))
KNOWN = decoded_metadata({"a": {0: ONE}, "b": {0: ONE, 1: ONE}})
HONEST = {
    "topic": ["a", "b"], "partition": [0, 1], "leader": [True, True], "size_bytes": [5, 6],
    "bytes_in": [1, 2], "bytes_out": [3, 4], "messages_in": [7, 8],
    "log_start_offset": [2, 9],
}  # fmt: skip


async def told_by(columns, stats=None, answers=None):
    """What a broker's admin port amounts to."""
    answers = answers or ClusterAnswers.empty(KNOWN)
    source = BrokerdStatsReader(AdminUrls({"1": "http://127.0.0.1:1"}, "token"))
    responses = {"/v1/broker": stats or {}, "/v1/partitions": columns}

    async def get(broker_id, path, timeout_s):
        return responses[path]

    source._get = get
    try:
        await source.read_into(answers, 1, 5)
    finally:
        await source.close()
    return answers


async def test_columns_are_put_into_the_rows_of_their_partitions():
    answers = await told_by(HONEST)
    assert answers.size_bytes.tolist() == [5, -1, 6]
    assert answers.counters.messages_in.tolist() == [7, -1, 8]
    assert answers.log_start.tolist() == [2, -1, 9]
    assert (answers.replicas_reported.tolist(), answers.broker_size_bytes) == ([1, 0, 1], {1: 11})


@pytest.mark.parametrize("number", [-1, 1, 2**40])
async def test_a_partition_that_does_not_exist_changes_no_other_topic(number):
    answers = await told_by(HONEST | {"topic": ["b", "a"], "partition": [0, number]})
    assert answers.size_bytes.tolist() == [-1, 5, -1]
    assert answers.counters.bytes_in.tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    "lie",
    [
        {"partition": [0.5, 1]}, {"size_bytes": [2**70, 1]}, {"bytes_in": ["1", 2]},
        {"bytes_in": [1]}, {"partition": [[0], [1]]}, {"topic": [["a"], "b"]}, {"leader": 7},
        {"size_bytes": None}, {"topic": ["a"]},
    ],
)  # fmt: skip
async def test_invalid_columns_are_refused(lie):
    with pytest.raises(Refused, match="unknown format"):
        await told_by(HONEST | lie)


async def test_invalid_values_of_a_broker_are_unknown():
    disk = {"path": "/disk", "total_bytes": 10, "free_bytes": float("nan")}
    stats = {"bytes_in": "many", "requests": -1, "connections": True, "rss_bytes": 1e300}
    stats |= {"cpu_seconds": 1.5, "log_dirs": [disk]}
    answers = await told_by(HONEST, stats)
    [told] = answers.broker_stats.values()
    known = {name: value for name, value in told.items() if value is not None}
    assert known == {"cpu_seconds": 1.5}
    assert answers.log_dirs == {1: [LogDir("/disk", 10, None)]}


DISKS = [{"path": path, "total_bytes": 10, "free_bytes": 4} for path in ("/disk-1", "/disk-2")]
HELD_IN = {"log_dirs": ["/disk-1", "/disk-2"], "log_dir": [1, 1]}


async def test_each_log_directory_has_the_size_of_its_replicas():
    answers = await told_by(HONEST | HELD_IN, {"log_dirs": DISKS})
    assert answers.log_dirs[1] == [LogDir("/disk-1", 10, 4, 0), LogDir("/disk-2", 10, 4, 11)]


async def test_a_replica_in_no_directory_and_an_unknown_topic_count_in_none():
    held_in = HELD_IN | {"log_dir": [-1, 1], "topic": ["a", "gone"]}
    answers = await told_by(HONEST | held_in, {"log_dirs": DISKS})
    assert [each.size_bytes for each in answers.log_dirs[1]] == [0, 0]


@pytest.mark.parametrize(
    "lie", [{"log_dir": [7, 7]}, {"log_dir": [0]}, {"log_dir": ["x", 1]}, {"log_dirs": 5}]
)
async def test_invalid_directories_are_refused_before_sizes_are_taken(lie):
    answers = ClusterAnswers.empty(KNOWN)
    with pytest.raises(Refused, match="unknown format"):
        await told_by(HONEST | HELD_IN | lie, {"log_dirs": DISKS}, answers)
    assert answers.size_bytes.tolist() == [-1, -1, -1]
