"""`/metrics` of a real broker: valid, by Kafka's names, and true of what clients did."""

import socket
from collections.abc import Callable

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import Brokerd
from tests.support.exposition import Exposition
from tests.support.waiting import wait_until
from tests.support.wire import Wire

TRAFFIC = "kafka_server_brokertopicmetrics_"
REQUESTS = "kafka_network_requestmetrics_"


def page(broker: Brokerd, query: str = "") -> Exposition:
    token = (broker.directory / "admin.token").read_text().strip()
    answer = httpx.get(
        f"{broker.admin_url}/metrics{query}", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return Exposition(answer.text)


@pytest.fixture
def topic(broker: Brokerd, new_name: Callable[[str], str]) -> str:
    """A topic with three partitions, 40 records of a known size in one of them, read once."""
    name = new_name("metrics")
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(name, 3, 1)])[name].result(30)
    producer = Producer({"bootstrap.servers": broker.address})
    for _ in range(40):
        producer.produce(name, b"x" * 500, partition=1)
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": name})
    consumer.assign([TopicPartition(name, 1, 0)])
    read = 0
    while read < 40:
        message = consumer.poll(30)
        assert message is not None
        read += 1
    consumer.close()
    return name


def test_traffic_is_told_by_topic_and_in_sum(broker: Brokerd, topic: str) -> None:
    found = page(broker)
    assert found.value(f"{TRAFFIC}messagesin_total", topic=topic) == 40
    assert found.value(f"{TRAFFIC}bytesin_total", topic=topic) > 20_000
    assert found.value(f"{TRAFFIC}bytesout_total", topic=topic) >= 20_000
    assert found.value(f"{TRAFFIC}totalproducerequests_total", topic=topic) >= 1
    assert found.value(f"{TRAFFIC}totalfetchrequests_total", topic=topic) >= 1
    assert found.value("kafka_log_log_size", topic=topic) > 20_000
    for name in ("messagesin_total", "bytesin_total", "bytesout_total"):
        series = found.series(TRAFFIC + name)
        assert series.pop(()) >= sum(series.values())
    assert not [name for name in found.metrics if "partition=" in name]


def test_partitions_are_told_only_where_that_is_asked_for(broker: Brokerd, topic: str) -> None:
    assert not page(broker).series("kafka_log_log_logendoffset")
    found = page(broker, "?partitions=1")
    for partition, count in (("0", 0), ("1", 40), ("2", 0)):
        place = {"topic": topic, "partition": partition}
        assert found.value("kafka_log_log_logendoffset", **place) == count
        assert found.value("kafka_log_log_logstartoffset", **place) == 0
        assert found.value("brokerd_partition_messages_in_total", **place) == count
        assert found.value("kafka_log_log_numlogsegments", **place) == 1
        assert found.value("kafka_cluster_partition_replicascount", **place) == 1
        assert found.value("kafka_cluster_partition_underreplicated", **place) == 0
    sizes = found.series("kafka_log_log_size")
    assert sum(size for labels, size in sizes.items() if dict(labels)["topic"] == topic) > 20_000


def test_requests_are_told_by_api_with_their_times(broker: Brokerd, topic: str) -> None:
    apis = ("Produce", "Fetch", "Metadata", "ApiVersions", "CreateTopics")
    parts = ("requestbytes", "requestqueuetimems", "localtimems", "remotetimems", "totaltimems")

    def all_answered() -> Exposition | None:
        """A request counts when it comes, its times when it is answered: clients may still ask."""
        found = page(broker)
        counts = {api: found.value(f"{REQUESTS}requests_total", request=api) for api in apis}
        is_done = all(
            found.value(f"{REQUESTS}{part}_count", request=api) == count
            for api, count in counts.items()
            for part in parts
        )
        return found if is_done else None

    found = wait_until(all_answered, "each request has its size and its times")
    for api in apis:
        count = found.value(f"{REQUESTS}requests_total", request=api)
        assert count >= 1
        assert found.value(f"{REQUESTS}requestbytes_sum", request=api) >= 12 * count
    assert found.value(f"{REQUESTS}requestbytes_sum", request="Produce") > 20_000
    # A topic is made by ZooKeeper, a coroutine waits for it.
    assert found.value(f"{REQUESTS}remotetimems_sum", request="CreateTopics") > 0


def test_a_long_poll_waits_in_the_purgatory_and_is_told_as_waiting(
    broker: Brokerd, topic: str
) -> None:
    before = page(broker).value(f"{REQUESTS}remotetimems_sum", request="Fetch")
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": topic, "fetch.wait.max.ms": 300}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert consumer.poll(1.0) is None
    found = page(broker)
    consumer.close()
    assert found.value(f"{REQUESTS}remotetimems_sum", request="Fetch") - before >= 250
    sizes = found.series("kafka_server_delayedoperationpurgatory_purgatorysize")
    assert set(sizes) == {(("delayedOperation", each),) for each in ("Produce", "Fetch")}
    expired = found.series("kafka_server_delayedfetchmetrics_expires_total")
    assert expired[(("fetcherType", "consumer"),)] >= 1


def test_what_is_refused_is_counted_by_error(broker: Brokerd, topic: str) -> None:
    def errors(error: str, request: str) -> float:
        labels = (("error", error), ("request", request))
        return page(broker).series(f"{REQUESTS}errors_total").get(labels, 0)

    too_large = errors("MESSAGE_TOO_LARGE", "Produce")
    beyond = errors("OFFSET_OUT_OF_RANGE", "Fetch")
    rejected = page(broker).value(f"{TRAFFIC}bytesrejected_total")
    producer = Producer({"bootstrap.servers": broker.address, "message.max.bytes": 3_000_000})
    failed: list[object] = []
    too_long = b"x" * 1_200_000
    producer.produce(topic, too_long, partition=0, on_delivery=lambda e, _: failed.append(e))
    assert producer.flush(30) == 0
    assert failed[0] is not None
    fetch = {"partition": 1, "fetch_offset": 10**6, "partition_max_bytes": 1000}
    fields = {"max_bytes": 1000, "topics": [{"topic": topic, "partitions": [fetch]}]}
    with Wire(broker.port) as wire:
        wire.ask(ApiKey.FETCH, 4, fields)
    assert errors("MESSAGE_TOO_LARGE", "Produce") == too_large + 1
    assert errors("OFFSET_OUT_OF_RANGE", "Fetch") == beyond + 1
    found = page(broker)
    assert found.value(f"{TRAFFIC}bytesrejected_total") > rejected + 1_200_000
    # Kafka does not call these failed: they are expected of clients.
    assert found.value(f"{TRAFFIC}failedproducerequests_total", topic=topic) == 0
    assert found.value(f"{TRAFFIC}failedfetchrequests_total", topic=topic) == 0


def test_a_sum_never_falls_when_a_topic_goes(broker: Brokerd, topic: str) -> None:
    name = f"{TRAFFIC}messagesin_total"
    before = page(broker).value(name)
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.delete_topics([topic])[topic].result(30)
    found = page(broker)
    with pytest.raises(KeyError):
        found.value(name, topic=topic)
    assert found.value(name) >= before


def test_the_broker_tells_of_itself(broker: Brokerd, topic: str) -> None:
    found = page(broker)
    assert found.value("kafka_server_kafkaserver_brokerstate") == 3
    assert found.value("kafka_controller_kafkacontroller_activecontrollercount") == 1
    assert found.value("kafka_controller_kafkacontroller_offlinepartitionscount") == 0
    assert found.value("kafka_server_replicamanager_leadercount") >= 3
    assert found.value("kafka_server_replicamanager_underreplicatedpartitions") == 0
    assert found.value("kafka_server_sessionexpirelistener_sessionstate", state="CONNECTED") == 1
    assert found.value("process_open_fds") > 10
    assert found.value("process_resident_memory_bytes") > 10_000_000
    idle = found.value("kafka_network_socketserver_networkprocessoravgidle_percent")
    assert 0 <= idle <= 1
    prefix = "kafka_server_socket_server_metrics_"
    opened = found.value(f"{prefix}connection_creation_total", listener="PLAINTEXT")
    closed = found.value(f"{prefix}connection_close_total", listener="PLAINTEXT")
    assert found.value(f"{prefix}connection_count", listener="PLAINTEXT") == opened - closed
    assert found.value(f"{prefix}outgoing_byte_total") > 20_000
    assert found.value(f"{prefix}incoming_byte_total") > 20_000


def test_an_old_client_of_http_gets_the_page_to_the_end_of_the_connection(broker: Brokerd) -> None:
    token = (broker.directory / "admin.token").read_text().strip()
    with socket.create_connection(("127.0.0.1", broker.admin_port), 10) as client:
        head = f"GET /metrics HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n"
        client.sendall(head.encode())
        answer = b""
        while piece := client.recv(65_536):
            answer += piece
    begin, _, body = answer.partition(b"\r\n\r\n")
    assert b"chunked" not in begin
    assert Exposition(body.decode()).value("kafka_server_kafkaserver_brokerstate") == 3
