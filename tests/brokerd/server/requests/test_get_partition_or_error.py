"""Why a partition is not served here, and which refusals count as failures."""

from pathlib import Path
from uuid import UUID

import pytest

from brokerd.cluster.metadata_image import MetadataImage, TopicInfo
from brokerd.errors import ErrorCode, KafkaError
from brokerd.metric_counters import BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.requests.get_partition_or_error import LedPartitions, check_current_leader_epoch
from tests.brokerd.replication.support import replica, state
from tests.brokerd.server.led import led


def code(partitions: LedPartitions, topic: str, index: int, leader_epoch: int = -1) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        partitions.get_partition_or_error(topic, index, leader_epoch)
    return caught.value.code


def test_what_is_not_here_is_elsewhere_or_offline_or_unknown() -> None:
    image = MetadataImage()
    known = {index: state(1, 2, partition=index) for index in (0, 1)}
    image.topics["t"] = TopicInfo(name="t", topic_id=UUID(int=5), partitions=known)
    partitions = led(lambda *_: None, image=image, offline={("t", 1): "the disk has failed"})
    assert code(partitions, "t", 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert code(partitions, "t", 1) is ErrorCode.KAFKA_STORAGE_ERROR
    assert code(partitions, "t", 2) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_what_is_here_is_served_by_its_leader_to_who_knows_its_epoch(tmp_path: Path) -> None:
    partition = replica(tmp_path, 1)
    partitions = led(lambda *_: partition)
    assert code(partitions, "t", 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    partition.apply(state(1, 1, replicas=(1,), isr=(1,)), 0)
    assert partitions.get_partition_or_error("t", 0) is partition
    assert code(partitions, "t", 0, partition.leader_epoch + 1) is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_only_what_is_not_expected_of_clients_counts_as_a_failure(tmp_path: Path) -> None:
    partition, metrics = replica(tmp_path, 1), BrokerMetrics()
    partitions = led(lambda *_: partition, metrics)
    for error in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.INVALID_RECORD):
        partitions.count_refusal(ApiKey.PRODUCE, "t", 0, error, 7)
    partitions.count_refusal(ApiKey.FETCH, "t", 0, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert (metrics.rejected_bytes, metrics.failed_produces, metrics.failed_fetches) == (7, 1, 0)
    assert (partition.failed_produces, partition.failed_fetches) == (1, 0)
    assert sum(metrics.errors.values()) == 3


def test_the_current_epoch_and_none_at_all_pass() -> None:
    check_current_leader_epoch(5, 5)
    check_current_leader_epoch(-1, 5)


@pytest.mark.parametrize(
    ("requested", "code"),
    [(4, ErrorCode.FENCED_LEADER_EPOCH), (6, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_other_epochs_are_refused(requested: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        check_current_leader_epoch(requested, 5)
    assert caught.value.code is code
