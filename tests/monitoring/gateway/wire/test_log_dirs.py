import pytest

from monitoring.gateway.wire import log_dirs
from monitoring.gateway.wire.reads import ClusterReads
from tests.monitoring.gateway.wire.answers import decoded_metadata, log_dirs_answer

KNOWN = decoded_metadata(
    {"a": {0: (1, (1, 2), (1, 2)), 1: (2, (2, 1), (2, 1))}, "b": {0: (1, (1,), (1,))}}
)


def told_by(*answers):
    """What (broker, its directories) pairs amount to."""
    reads = ClusterReads.empty(KNOWN)
    for broker, directories in answers:
        log_dirs.decode_into(reads, broker, log_dirs_answer(directories))
    return reads


def sizes(broker, *directories):
    return told_by((broker, list(directories))).size_bytes.tolist()


def test_the_size_of_a_partition_is_that_of_its_leaders_replica():
    held = {"a": {0: (100, False), 1: (200, False)}}
    assert sizes(1, held) == [100, -1, -1]
    assert sizes(2, held) == [-1, 200, -1]


def test_every_replica_counts_as_data_on_disk():
    held = {"a": {0: (100, False), 1: (200, False)}}
    reads = told_by((1, [held | {"b": {0: (7, False)}}]), (2, [held]))
    assert reads.replicas_size_bytes.tolist() == [200, 400, 7]
    assert reads.replicas_told.tolist() == [2, 2, 1]
    assert reads.broker_size_bytes == {1: 307, 2: 300}


def test_replicas_of_a_broker_that_does_not_answer_are_not_counted():
    reads = told_by((1, [{"a": {0: (100, False)}}]))
    assert reads.replicas_size_bytes.tolist() == [100, -1, -1]
    assert reads.replicas_told.tolist() == [1, 0, 0]


def test_all_directories_count_but_not_copies_that_are_being_moved():
    assert sizes(1, {"a": {0: (5, True)}}, {"a": {0: (100, False)}, "b": {0: (9, False)}}) == [
        100, -1, 9,
    ]  # fmt: skip


def test_partitions_and_topics_that_the_metadata_lacks_are_left_out():
    assert sizes(1, {"a": {0: (1, False), 7: (99, False)}, "new": {0: (3, False)}}) == [1, -1, -1]


def test_a_negative_partition_number_changes_no_other_topic():
    assert sizes(1, {"b": {-1: (55, False), 0: (3, False)}}) == [-1, -1, 3]


@pytest.mark.parametrize(
    "directories",
    [
        [{"a": {0: (-5, False)}}],
        [{"a": {0: (2**62, False), 1: (2**62, False)}}],
        [{"a": {0: (5, False)}}, {"a": {0: (5, False)}}],
    ],
)
def test_invalid_sizes_make_all_sizes_of_that_broker_unknown(directories):
    reads = told_by((1, directories), (2, [{"a": {0: (100, False), 1: (200, False)}}]))
    assert reads.size_bytes.tolist() == [-1, 200, -1]
    assert reads.replicas_size_bytes.tolist() == [100, 200, -1]
    assert reads.broker_size_bytes == {2: 300}
    assert reads.refused.messages() == ["broker 1: invalid sizes of its replicas"]
