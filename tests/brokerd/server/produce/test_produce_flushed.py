"""A topic whose every record is synced before it is acknowledged."""

import threading

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import BrokerdCluster

COUNT = 200


def test_records_that_are_synced_one_by_one_are_all_acknowledged_and_read(
    brokers: BrokerdCluster, admin: AdminClient
) -> None:
    config = {"flush.messages": "1"}
    admin.create_topics([NewTopic("synced", 1, 1, config=config)])["synced"].result(30)
    acknowledged: set[int] = set()
    lock = threading.Lock()

    def send(first: int) -> None:
        producer = Producer({"bootstrap.servers": brokers.bootstrap_servers, "acks": "all"})
        for number in range(first, first + COUNT // 2):

            def told(error: object, _: object, number: int = number) -> None:
                assert error is None
                with lock:
                    acknowledged.add(number)

            producer.produce("synced", str(number).encode(), on_delivery=told)
            if number % 10 == 0:
                producer.flush(30)
        assert producer.flush(30) == 0

    threads = [threading.Thread(target=send, args=(first,)) for first in (0, COUNT // 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert acknowledged == set(range(COUNT))
    settings = {"bootstrap.servers": brokers.bootstrap_servers, "group.id": "synced",
                "auto.offset.reset": "earliest"}  # fmt: skip
    consumer = Consumer(settings)
    consumer.subscribe(["synced"])
    seen: set[int] = set()
    for _ in range(600):
        for message in consumer.consume(100, 0.1):
            assert message.error() is None
            seen.add(int(message.value() or b""))
        if seen == acknowledged:
            break
    consumer.close()
    assert seen == acknowledged
