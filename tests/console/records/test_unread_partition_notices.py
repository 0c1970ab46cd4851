"""What is said of partitions that cannot be read."""

import pytest

from console.records.unread_partition_notices import notices, ranges
from monitoring.gateway.record_pages import FAILED, NO_LEADER, SILENT, TOO_MUCH, UnreadPartition
from monitoring.read_model.snapshot import Snapshot
from tests.console.conftest import BROKERS, PARTITIONS
from tests.monitoring.tick_factory import make_tick

DOWN = {"id": 2, "up": False, "source": "none", "down_since_ms": 1_760_000_000_000}


def a_snapshot(*brokers) -> Snapshot:
    """`orders` with six partitions: 0 and 3 on broker 1, the others on broker 2, which is down."""
    rows = [
        PARTITIONS[0]
        | {"partition": number}
        | ({} if number % 3 == 0 else {"leader": -1, "replicas": [2], "isr": [2]})
        for number in range(6)
    ]
    return Snapshot.of(make_tick(1, partitions=rows, groups=[], brokers=[*BROKERS, *brokers]), None)


def test_the_brokers_that_are_down_are_named_and_partitions_with_the_same_reason_share_a_notice():
    [notice] = notices(
        [UnreadPartition(n, NO_LEADER) for n in (1, 2, 4, 5)], a_snapshot(DOWN), "orders"
    )
    assert notice.title == (
        "Partitions 1, 2, 4, 5 have no leader. Broker 2 is down since 2025-10-09 08:53:20 UTC."
    )
    assert "Start the broker" in notice.text


def test_an_unknown_time_is_left_out():
    [notice] = notices([UnreadPartition(1, NO_LEADER)], a_snapshot(), "orders")
    assert notice.title == "Partition 1 has no leader. Broker 2 is down."


def test_without_a_sample_the_notice_has_no_details():
    [notice] = notices([UnreadPartition(1, NO_LEADER)], None, "orders")
    assert notice.title == "Partition 1 has no leader."
    assert notice.text


def test_a_leader_that_is_down_is_named():
    down = DOWN | {"id": 1}
    [notice] = notices([UnreadPartition(0, SILENT)], a_snapshot(down), "orders")
    assert notice.title == "Partition 0 could not be read. Its leader, broker 1, does not answer."


def test_a_leader_that_is_up_but_sends_no_records_is_not_called_down():
    [notice] = notices([UnreadPartition(0, SILENT)], a_snapshot(), "orders")
    assert "Its leader, broker 1, sent no valid answer in time" in notice.title


def test_different_reasons_get_separate_notices():
    unread = [
        UnreadPartition(0, TOO_MUCH),
        UnreadPartition(1, NO_LEADER),
        UnreadPartition(3, FAILED, "Not authorised."),
    ]
    unread = notices(unread, a_snapshot(DOWN), "orders")
    assert len(unread) == 3
    assert "fewer records" in unread[0].text
    assert unread[2].text == "Not authorised."


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([1, 0], "0, 1"), ([0, 1, 2, 9], "0–2, 9"),
     (range(0, 60, 2), "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 …")],
)  # fmt: skip
def test_partitions_are_written_as_a_limited_number_of_ranges(numbers, text):
    assert ranges(numbers) == text
