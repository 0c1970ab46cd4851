"""The definitions of the figures, without Spark: what must hold of any history.

That Spark computes the same figures is tested in test_transforms.py.
"""

import pytest
from hypothesis import given

from tests.monitoring.spark import random_samples, reference

BUCKET_MS = 60_000
GAP_MS = 15_000


def figures_of(cluster):
    return reference.throughput(cluster.samples(), BUCKET_MS, GAP_MS)


@given(random_samples.clusters(topics=2))
def test_no_mean_is_above_its_peak_whatever_is_missing(cluster):
    summaries, _ = figures_of(cluster)
    for row in summaries.values():
        for what in ("messages", "bytes"):
            mean, peak = row[f"{what}_per_minute_mean"], row[f"{what}_per_minute_peak"]
            assert (mean is None) == (peak is None)
            assert mean is None or mean <= peak * (1 + 1e-9)


@given(random_samples.clusters(topics=2, is_whole=True))
def test_without_unknown_steps_mean_times_duration_is_the_total(cluster):
    summaries, _ = figures_of(cluster)
    for topic, row in summaries.items():
        logs = [log for log in cluster.logs if log.topic == topic]
        first = min(log.made for log in logs)
        began_ms = cluster.ticks[max(first - 1, 0)]  # of a new topic: when it was not there yet
        told = len(cluster.ticks)
        written = sum(sum(log.grown[log.made == 0 : told - log.made]) for log in logs)
        minutes = (cluster.ticks[-1] - began_ms) / 60_000
        assert row["messages"] == written
        assert row["messages_per_minute_mean"] * minutes == pytest.approx(written)
