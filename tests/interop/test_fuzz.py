"""Changed frames of every API and version at a live broker: it neither dies, hangs, complains nor
grows. `python -m tests.support.fuzz` sends a million."""

from collections.abc import Iterator
from functools import partial

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.admin import metric
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.fuzz import SETTINGS, Fuzzer, descriptors, resident_bytes, tidy
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

FRAMES = 6_000
SEED = 20_240
DEADLINE_S = 60
MIB = 1 << 20


@pytest.fixture(scope="module")
def target(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory = tmp_path_factory.mktemp("fuzz")
    connect = zookeeper.connect("/fuzz")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


until = partial(wait_until, deadline_s=DEADLINE_S)


def test_changed_frames_leave_nothing_behind(target: Brokerd) -> None:
    fuzzer = Fuzzer(target.port, SEED)
    fuzzer.run(FRAMES // 2)
    tidy(target.port)
    sockets, memory = descriptors(target)["socket"], resident_bytes(target)
    fuzzer.run(FRAMES // 2)
    tidy(target.port)
    assert min(fuzzer.fates["answered"], fuzzer.fates["closed"]) > FRAMES // 10
    until(lambda: metric(target, "brokerd_connections") == 0)
    until(lambda: metric(target, "brokerd_parked_requests") == 0)
    assert metric(target, "kafka_network_socketserver_memorypoolused") == 0
    until(lambda: descriptors(target)["socket"] <= sockets)
    assert resident_bytes(target) - memory < 20 * MIB
    said = target.said()
    assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:4000]
    assert " ERROR " not in said
    with Wire(target.port) as wire:
        records = bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", b"v")]))
        topic = {"name": "fuzz-a", "partition_data": [{"index": 0, "records": records}]}
        asked = {"acks": -1, "timeout": 5000, "topic_data": [topic]}
        answer = wire.ask(ApiKey.PRODUCE, 8, asked)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
