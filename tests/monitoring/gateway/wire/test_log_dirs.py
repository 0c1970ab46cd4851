import pytest

from monitoring.gateway.wire import log_dirs, metadata
from monitoring.gateway.wire.reads import ClusterReads
from tests.monitoring.gateway.wire.answers import log_dirs_answer, metadata_answer

KNOWN = metadata.decode(
    metadata_answer(
        {"a": {0: (1, (1, 2), (1, 2)), 1: (2, (2, 1), (2, 1))}, "b": {0: (1, (1,), (1,))}}
    )
)


def told_by(*answers):
    """What (broker, its directories) pairs amount to."""
    reads = ClusterReads.empty(KNOWN)
    for broker, directories in answers:
        log_dirs.decode_into(reads, broker, log_dirs_answer(directories))
    return reads


def sizes(broker, *directories):
    return told_by((broker, list(directories))).size_bytes.tolist()


def test_a_leaders_replica_is_the_size_of_the_partition():
    held = {"a": {0: (100, False), 1: (200, False)}}
    assert sizes(1, held) == [100, -1, -1]
    assert sizes(2, held) == [-1, 200, -1]


def test_every_replica_counts_as_data_on_disk():
    held = {"a": {0: (100, False), 1: (200, False)}}
    reads = told_by((1, [held | {"b": {0: (7, False)}}]), (2, [held]))
    assert reads.replicas_size_bytes.tolist() == [200, 400, 7]
    assert reads.replicas_told.tolist() == [2, 2, 1]
    assert reads.broker_size_bytes == {1: 307, 2: 300}


def test_a_broker_that_does_not_tell_leaves_its_replicas_uncounted():
    reads = told_by((1, [{"a": {0: (100, False)}}]))
    assert reads.replicas_size_bytes.tolist() == [100, -1, -1]
    assert reads.replicas_told.tolist() == [1, 0, 0]


def test_every_directory_counts_but_not_a_copy_on_its_way():
    assert sizes(1, {"a": {0: (5, True)}}, {"a": {0: (100, False)}, "b": {0: (9, False)}}) == [
        100, -1, 9,
    ]  # fmt: skip


def test_partitions_and_topics_that_the_metadata_lacks_are_left_out():
    assert sizes(1, {"a": {0: (1, False), 7: (99, False)}, "new": {0: (3, False)}}) == [1, -1, -1]


def test_a_partition_of_negative_number_is_no_other_topics():
    assert sizes(1, {"b": {-1: (55, False), 0: (3, False)}}) == [-1, -1, 3]


@pytest.mark.parametrize(
    "directories",
    [
        [{"a": {0: (-5, False)}}],
        [{"a": {0: (2**62, False), 1: (2**62, False)}}],
        [{"a": {0: (5, False)}}, {"a": {0: (5, False)}}],
    ],
)
def test_sizes_that_cannot_be_true_tell_nothing_of_that_broker(directories):
    reads = told_by((1, directories), (2, [{"a": {0: (100, False), 1: (200, False)}}]))
    assert reads.size_bytes.tolist() == [-1, 200, -1]
    assert reads.replicas_size_bytes.tolist() == [100, 200, -1]
    assert reads.broker_size_bytes == {2: 300}
    assert reads.refused.messages() == ["broker 1: invalid sizes of its replicas"]
