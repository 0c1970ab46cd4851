"""The client with a real broker, and with addresses where none answers."""

import socket
import threading
from contextlib import closing

import pytest

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import event_loop
from monitoring.gateway.errors import ClusterUnavailable, GatewayError
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.list_offsets import UNKNOWN
from tests.monitoring.gateway.wire.answers import a_cluster_of_one
from tests.support.hostile_broker import hostile_broker

TIMEOUT_S = 5


def read_metadata(settings, times=1):
    """The metadata, read by one client as often as that."""

    async def read():
        with closing(ClusterClient(settings)) as client:
            return [await client.read_metadata(TIMEOUT_S) for _ in range(times)]

    return event_loop.run(read(), 60)


def test_metadata_that_did_not_change_is_not_decoded_again(live_cluster, db):
    first, second = read_metadata(live_cluster.row().kafka_client_settings(), times=2)
    assert first is second


@pytest.mark.parametrize(("known_start", "start"), [(UNKNOWN, 7), (3, 3)])
def test_log_start_offsets_are_requested_only_if_one_is_unknown(known_start, start):
    async def read(port):
        with closing(ClusterClient(ClientSettings((("127.0.0.1", port),)))) as client:
            answers = ClusterAnswers.empty(await client.read_metadata(TIMEOUT_S))
            answers.log_start[:] = known_start
            await client.read_offsets(answers, TIMEOUT_S)
            return answers

    with hostile_broker(a_cluster_of_one("a")) as port:
        answers = event_loop.run(read(port), 60)
    assert (answers.log_start.tolist(), answers.log_end.tolist()) == ([start], [7])
    assert answers.failures == []


def test_an_address_without_a_broker_raises_an_error_in_time():
    with pytest.raises(ClusterUnavailable, match=r"127\.0\.0\.1:1"):
        read_metadata(ClientSettings((("127.0.0.1", 1),)))


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00\x00\x06\x00\x00\x00\x01\x00\x00",
        b"\xff" * 64,
        b"",
    ],
)
def test_a_server_that_is_not_kafka_raises_an_error(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(GatewayError):
            read_metadata(ClientSettings((server.getsockname(),)))
