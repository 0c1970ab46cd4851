import numpy as np

from monitoring.gateway.wire import log_dirs, metadata
from tests.monitoring.gateway.wire.answers import log_dirs_answer, metadata_answer

KNOWN = metadata.decode(
    metadata_answer(
        {"a": {0: (1, (1, 2), (1, 2)), 1: (2, (2, 1), (2, 1))}, "b": {0: (1, (1,), (1,))}}
    )
)


def sizes(broker, *directories):
    array = np.full(KNOWN.row_count, -1, dtype=np.int64)
    log_dirs.decode_into(array, KNOWN, broker, log_dirs_answer(list(directories)))
    return array.tolist()


def test_a_leaders_replica_stands_for_the_partition():
    held = {"a": {0: (100, False), 1: (200, False)}}
    assert sizes(1, held) == [100, -1, -1]
    assert sizes(2, held) == [-1, 200, -1]


def test_every_directory_counts_but_not_a_copy_on_its_way():
    assert sizes(1, {"a": {0: (5, True)}}, {"a": {0: (100, False)}, "b": {0: (9, False)}}) == [
        100, -1, 9,
    ]  # fmt: skip


def test_partitions_and_topics_that_the_metadata_lacks_are_left_out():
    assert sizes(1, {"a": {0: (1, False), 7: (99, False)}, "new": {0: (3, False)}}) == [1, -1, -1]
