"""Limits: connections, idleness, memory of half-sent frames, and readers that do not read."""

import resource
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Thread
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch, write_crc
from tests.support.admin import metric
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.fuzz import descriptors
from tests.support.ports import free_port
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

MIB = 1 << 20


@pytest.fixture(scope="module")
def bounded(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    """A broker with low limits."""
    settings = {
        "max.connections": "20",
        "max.connections.per.ip.overrides": "127.0.0.2:2",
        "connections.max.idle.ms": "1000",
        "queued.max.request.bytes": str(4 * MIB),
        "socket.request.max.bytes": str(3 * MIB),
        "message.max.bytes": str(3 * MIB),
        "brokerd.validate.records": "all",
    }
    directory = tmp_path_factory.mktemp("bounds")
    connect = zookeeper.connect("/bounds")
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        yield cluster.brokers[0]


@pytest.fixture(scope="module")
def inner_port() -> int:
    """Where `frugal` listens for other brokers."""
    return free_port()


@pytest.fixture(scope="module")
def frugal(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory, inner_port: int
) -> Iterator[Brokerd]:
    """A broker with little memory for frames, and patience with idle clients."""
    port = free_port()
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port},INNER://127.0.0.1:{inner_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT",
        "inter.broker.listener.name": "INNER",
        "queued.max.request.bytes": str(4 * MIB),
        "socket.request.max.bytes": str(3 * MIB),
        "message.max.bytes": str(3 * MIB),
    }
    directory = tmp_path_factory.mktemp("frugal")
    connect = zookeeper.connect("/frugal")
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        cluster.brokers[0].port = port
        yield cluster.brokers[0]


def produce_frame(topic: str, size: int) -> bytes:
    batch = bytes(encode_batch([Record(0, 1_700_000_000_000, None, bytes(size))]))
    fields = {
        "acks": 1,
        "timeout": 1000,
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}],
    }
    return encode_request(ApiKey.PRODUCE, 7, fields, 1, "bounds")


def fetch_of(topic: str, max_bytes: int, max_wait: int = 0) -> dict[str, Any]:
    """A Fetch v4 of the topic's first records."""
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": max_bytes}
    return {
        "replica_id": -1,
        "max_wait": max_wait,
        "min_bytes": 1,
        "max_bytes": max_bytes,
        "topics": [{"topic": topic, "partitions": [partition]}],
    }


def make_topic(broker: Brokerd, name: str) -> None:
    with Wire(broker.port) as wire:
        wire.ask(ApiKey.METADATA, 1, {"topics": [{"name": name}]})


def test_connections_above_the_limit_wait_until_others_close(bounded: Brokerd) -> None:
    """As with Kafka: they are in the system's queue, and nobody answers them."""
    wait_until(lambda: metric(bounded, "brokerd_connections") == 0)
    with ExitStack() as stack:
        held = [stack.enter_context(Wire(bounded.port)) for _ in range(20)]
        for wire in held:
            assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        waiting = stack.enter_context(Wire(bounded.port))
        waiting.request(ApiKey.API_VERSIONS, 0, {})
        assert waiting.hears_nothing(0.2)
        held[7].__exit__()
        assert waiting.answer(ApiKey.API_VERSIONS, 0).error_code == 0


def test_connections_above_the_limit_of_their_address_are_closed(bounded: Brokerd) -> None:
    wait_until(lambda: metric(bounded, "brokerd_connections") == 0)
    with ExitStack() as stack:
        held = [stack.enter_context(Wire(bounded.port, "127.0.0.2")) for _ in range(2)]
        for wire in held:
            assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        with Wire(bounded.port, "127.0.0.2") as refused:
            assert refused.is_closed()
        with Wire(bounded.port) as wire:
            assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0


def test_brokers_come_in_though_all_places_are_taken(frugal: Brokerd, inner_port: int) -> None:
    """A connection of another listener ends for them, the one that was idle longest."""

    def limit(operation: int, value: str | None) -> dict[str, Any]:
        change = {"name": "max.connections", "config_operation": operation, "value": value}
        resource = {"resource_type": 4, "resource_name": "1", "configs": [change]}
        return {"resources": [resource], "validate_only": False}

    wait_until(lambda: metric(frugal, "brokerd_connections") == 0)
    with ExitStack() as stack:
        first, second, inner = (
            stack.enter_context(Wire(port)) for port in (frugal.port, frugal.port, inner_port)
        )
        for wire in (first, second, inner):
            wire.ask(ApiKey.API_VERSIONS, 0, {})
        inner.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, limit(0, "3"))
        another = stack.enter_context(Wire(inner_port))
        assert another.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        assert first.is_closed()
        assert second.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        inner.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, limit(1, None))


def test_out_of_descriptors_others_are_served_and_all_again_when_there_are_some(
    frugal: Brokerd,
) -> None:
    assert frugal.process is not None
    pid = frugal.process.pid
    make_topic(frugal, "scarce")
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        held = stack.enter_context(Wire(frugal.port))
        assert held.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        held.send(produce_frame("scarce", 10))
        held.frame()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (4, before[1]))  # all of these are taken
        try:
            waiting = stack.enter_context(Wire(frugal.port))
            waiting.request(ApiKey.API_VERSIONS, 0, {})
            assert waiting.hears_nothing(0.6)
            held.send(produce_frame("scarce", 10))
            assert struct.unpack_from(">h", held.frame(), 4 + 4 + 2 + 6 + 4 + 4) == (0,)
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        assert waiting.answer(ApiKey.API_VERSIONS, 0).error_code == 0
    assert frugal.said().count("cannot accept on PLAINTEXT: Too many open files") == 1


def test_an_idle_connection_is_closed_but_a_long_poll_is_not(bounded: Brokerd) -> None:
    make_topic(bounded, "idle")
    poll = fetch_of("idle", 1000, max_wait=3000)
    with Wire(bounded.port) as idle, Wire(bounded.port) as gone, Wire(bounded.port) as polling:
        gone.request(ApiKey.FETCH, 4, poll | {"max_wait": 60_000})
        gone.stop_sending()
        polling.request(ApiKey.FETCH, 4, poll)
        assert idle.is_closed()
        assert gone.is_closed(), "it may be, and does not show it"
        assert polling.answer(ApiKey.FETCH, 4).responses[0].partitions[0].error_code == 0


def test_half_sent_frames_are_held_to_the_memory_limit(frugal: Brokerd) -> None:
    """Ten clients send most of a 2 MB frame; then each finishes, and all are served."""
    make_topic(frugal, "memory")
    frame = produce_frame("memory", 2 * MIB)
    clients = [socket.create_connection(("127.0.0.1", frugal.port), 10) for _ in range(10)]
    try:
        for client in clients:
            client.settimeout(10)
            client.sendall(frame[: 100 * 1024])
        wait_until(lambda: metric(frugal, "kafka_network_socketserver_memorypoolused") > 0)
        assert metric(frugal, "kafka_network_socketserver_memorypoolused") <= 4 * MIB + 3 * MIB
        for client in clients:
            client.sendall(frame[100 * 1024 :])
        for client in clients:
            (size,) = struct.unpack(">i", client.recv(4, socket.MSG_WAITALL))
            answer = client.recv(size, socket.MSG_WAITALL)
            error_position = 4 + 4 + 2 + len("memory") + 4 + 4
            assert struct.unpack_from(">h", answer, error_position) == (0,)
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: metric(frugal, "kafka_network_socketserver_memorypoolused") == 0)


def test_clients_that_send_a_head_and_nothing_more_do_not_keep_others_out(
    frugal: Brokerd,
) -> None:
    with ExitStack() as stack:
        for number in range(4):
            head = stack.enter_context(socket.create_connection(("127.0.0.1", frugal.port), 10))
            head.sendall(struct.pack(">ihhi", 3 * MIB - 4, 0, 9, number) + bytes(100))
        wait_until(lambda: metric(frugal, "kafka_network_socketserver_memorypoolused") >= 4 * MIB)
        with Wire(frugal.port) as wire:
            assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
        other = stack.enter_context(socket.create_connection(("127.0.0.1", frugal.port), 60))
        other.sendall(produce_frame("memory", 200_000))
        assert len(other.recv(4, socket.MSG_WAITALL)) == 4
        assert "stood still" in frugal.said()


def test_clients_that_trickle_large_requests_end_and_small_ones_are_served_meanwhile(
    frugal: Brokerd,
) -> None:
    make_topic(frugal, "trickled")
    frame = produce_frame("trickled", 2 * MIB)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", frugal.port), 10))
            for _ in range(3)
        ]
        for client in clients[:2]:
            client.sendall(frame[: 2 * MIB - 1000])
        used = "kafka_network_socketserver_memorypoolused"
        wait_until(lambda: metric(frugal, used) >= 4 * MIB)
        sender = Thread(target=clients[2].sendall, args=(frame,))
        sender.start()
        left = list(clients[:2])

        def trickles() -> bool:
            with Wire(frugal.port) as wire:
                assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
            for client in list(left):
                try:
                    client.sendall(b"x")
                except OSError:
                    left.remove(client)
            return len(left) < 2

        wait_until(trickles)
        (size,) = struct.unpack(">i", clients[2].recv(4, socket.MSG_WAITALL))
        assert size > 0
        sender.join()
        assert "stood still" in frugal.said()


def test_a_reader_that_does_not_read_is_held_back_and_then_dropped(bounded: Brokerd) -> None:
    """It asks for far more than the sockets hold; the broker stops reading its requests."""
    make_topic(bounded, "slow")
    with Wire(bounded.port) as wire:
        for _ in range(4):
            wire.send(produce_frame("slow", 2 * MIB))
            wire.frame()
    fields = fetch_of("slow", 2 * MIB)
    request = encode_request(ApiKey.FETCH, 4, fields, 1, "slow")
    rss_before = resident_bytes(bounded)
    with socket.create_connection(("127.0.0.1", bounded.port), 10) as client:
        client.setblocking(False)
        sent = 0
        try:
            while sent < 64 * MIB:
                sent += client.send(request * 1000)
        except BlockingIOError:
            pass
        except (ConnectionResetError, BrokenPipeError):
            pytest.fail("it was dropped before it had a chance to read")
        wait_until(lambda: metric(bounded, "brokerd_connections") == 0)
    assert resident_bytes(bounded) - rss_before < 64 * MIB


def test_readers_that_reset_in_the_middle_of_a_file_leave_nothing_open(frugal: Brokerd) -> None:
    make_topic(frugal, "reset")
    with Wire(frugal.port) as wire:
        for _ in range(3):
            wire.send(produce_frame("reset", 2 * MIB))
            wire.frame()
    request = encode_request(ApiKey.FETCH, 4, fetch_of("reset", 6 * MIB), 1, "reset")
    # Out of descriptors, in a test before, the admin port may have logged a traceback.
    before, said = descriptors(frugal), len(frugal.said())
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", frugal.port), 10) as client:
            client.sendall(request)
            client.recv(100_000)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: metric(frugal, "brokerd_connections") == 0)
    wait_until(lambda: descriptors(frugal).total() <= before.total())
    assert "Traceback" not in frugal.said()[said:]


def test_a_client_that_stops_sending_still_gets_its_answers(frugal: Brokerd) -> None:
    """Also those that wait, and those behind them; what it has sent in part is dropped."""
    make_topic(frugal, "last")
    with Wire(frugal.port) as wire, Wire(frugal.port) as writer:
        for api, fields in (
            (ApiKey.API_VERSIONS, {}),
            (ApiKey.FETCH, fetch_of("last", 1000, max_wait=60_000)),
            (ApiKey.METADATA, {"topics": []}),
            (ApiKey.FETCH, fetch_of("last", 1000, max_wait=60_000)),
        ):
            wire.request(api, 4 if api is ApiKey.FETCH else 0, fields)
        wire.send(produce_frame("last", 10)[:-1])
        wire.stop_sending()
        assert wire.answer(ApiKey.API_VERSIONS, 0).error_code == 0
        assert wire.hears_nothing()
        writer.send(produce_frame("last", 10))
        assert wire.answer(ApiKey.FETCH, 4).responses[0].partitions[0].records
        assert wire.answer(ApiKey.METADATA, 0).brokers
        assert wire.answer(ApiKey.FETCH, 4).responses[0].partitions[0].records
        assert wire.is_closed()


def test_a_member_that_stops_sending_still_joins(frugal: Brokerd) -> None:
    fields = {"group_id": "stops", "session_timeout": 10_000, "rebalance_timeout": 60_000,
              "member_id": "", "protocol_type": "consumer",
              "protocols": [{"name": "range", "metadata": b""}]}  # fmt: skip
    with Wire(frugal.port) as first, Wire(frugal.port) as second:
        coordinator = {"key_type": 0, "key": "stops"}
        wait_until(lambda: not first.ask(ApiKey.FIND_COORDINATOR, 1, coordinator).error_code)
        alone = first.ask(ApiKey.JOIN_GROUP, 3, fields)
        assert alone.error_code == 0
        second.request(ApiKey.JOIN_GROUP, 3, fields)
        second.stop_sending()
        assert second.hears_nothing(), "the first has to come back"
        both = first.ask(ApiKey.JOIN_GROUP, 3, fields | {"member_id": alone.member_id})
        assert len(both.members) == 2
        assert second.answer(ApiKey.JOIN_GROUP, 3).member_id in {m.member_id for m in both.members}
        assert second.is_closed()


def test_requests_without_end_and_without_reading_cost_little_memory(frugal: Brokerd) -> None:
    """Thousands of small requests in one go, each with an answer a hundred times its size: they
    are served as far as the client reads, all of them and in order."""
    resource = {"resource_type": 4, "resource_name": "1", "configuration_keys": None}
    fields = {"resources": [resource], "include_synonyms": True, "include_documentation": True}
    asked = encode_request(ApiKey.DESCRIBE_CONFIGS, 3, fields, 0, None)
    count = 3000
    frames = bytearray()
    for number in range(count):
        frames += asked[:8] + struct.pack(">i", number) + asked[12:]
    before = resident_bytes(frugal)
    with Wire(frugal.port) as wire:
        wire.send(bytes(frames))
        first = wire.frame()
        assert len(first) * count > 40 * MIB
        assert resident_bytes(frugal) - before < 25 * MIB
        found = [struct.unpack_from(">i", first)[0]]
        found += [struct.unpack_from(">i", wire.frame())[0] for _ in range(count - 1)]
        assert found == list(range(count))
        assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0


def test_long_polls_without_end_are_taken_in_as_earlier_ones_are_answered(frugal: Brokerd) -> None:
    make_topic(frugal, "polled")
    poll = fetch_of("polled", 1000, max_wait=60_000)
    with Wire(frugal.port) as wire, Wire(frugal.port) as writer:
        wire.send(encode_request(ApiKey.FETCH, 4, poll, 1, "polled") * 3000)
        wait_until(lambda: metric(frugal, "brokerd_parked_requests") > 500)
        assert metric(frugal, "brokerd_parked_requests") <= 1000
        writer.send(produce_frame("polled", 10))
        for _ in range(3000):
            wire.frame()
    wait_until(lambda: metric(frugal, "brokerd_parked_requests") == 0)


def test_with_validation_on_garbage_inside_a_batch_is_refused(bounded: Brokerd) -> None:
    """The CRC is right, the records are not; without the setting only the header is looked at."""
    make_topic(bounded, "checked")
    batch = encode_batch([Record(0, 1_700_000_000_000, None, b"value")])
    batch[61] ^= 0x7F  # the length of the first record
    write_crc(batch)
    with Wire(bounded.port) as wire:
        assert produce_error(wire, "checked", bytes(batch)) == ErrorCode.INVALID_RECORD
        good = bytes(encode_batch([Record(0, 1_700_000_000_000, None, b"value")]))
        assert produce_error(wire, "checked", good) == 0


def produce_error(wire: Wire, topic: str, records: bytes) -> int:
    fields = {
        "acks": 1,
        "timeout": 1000,
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": records}]}],
    }
    answer = wire.ask(ApiKey.PRODUCE, 7, fields)
    return int(answer.responses[0].partition_responses[0].error_code)


def resident_bytes(broker: Brokerd) -> int:
    assert broker.process is not None
    with open(f"/proc/{broker.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096
