import numpy as np
import pytest

from monitoring.read_model.partition_columns import PartitionColumns
from monitoring.read_model.placement import Placement
from tests.monitoring.tick_factory import make_tick


def placement(brokers: int, *replicas: list[int], leaders: list[int] | None = None) -> Placement:
    rows = [
        {"topic": "t", "partition": n, "leader": (leaders or [ids[0] for ids in replicas])[n],
         "replicas": ids, "isr": ids}
        for n, ids in enumerate(replicas)
    ]  # fmt: skip
    return Placement.of(PartitionColumns.of(make_tick(1, partitions=rows)), brokers)


def test_an_even_topic_is_on_all_brokers_without_skew():
    found = placement(3, [1], [2], [3])
    assert (found.spread[0], found.skew[0], found.leader_skew[0]) == (1, 0, 0)


def test_spread_is_the_share_of_the_brokers():
    assert placement(4, [1], [1]).spread[0] == 0.25


def test_skew_counts_brokers_with_more_than_an_equal_part():
    # Replicas: four on broker 1, one on 2, one on 3; an equal part is two.
    found = placement(3, [1], [1], [1], [1, 2], [3])
    assert found.skew[0] == pytest.approx(1 / 3)


def test_leader_skew_counts_leaders_only():
    found = placement(2, [1, 2], [2, 1], [1, 2], [2, 1], leaders=[1, 1, 1, 2])
    assert (found.skew[0], found.leader_skew[0]) == (0, 0.5)


def test_a_topic_without_known_replicas_has_no_figures():
    found = placement(2, [], leaders=[-1])
    assert np.isnan(found.spread[0])
    assert np.isnan(found.leader_skew[0])
