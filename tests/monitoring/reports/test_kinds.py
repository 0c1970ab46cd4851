"""What a kind of report computes from the history of its cluster."""

import pytest

from monitoring.clusters.models import Cluster
from monitoring.history import append_ticks, manifest, written_range
from monitoring.history.levels import HOUR_MS, MINUTE, RAW
from monitoring.history.root_folder import SpanFolder, cluster_folder, current, level_folder
from monitoring.history.written_range import WrittenRange
from monitoring.reports.kinds import KINDS, THROUGHPUT_AND_LAG
from monitoring.reports.models import Report
from tests.monitoring.pipeline.made_history import START_MS

pytestmark = [pytest.mark.spark, pytest.mark.django_db]


@pytest.fixture
def no_history(tmp_path, settings):
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    append_ticks._changes_by_cluster.clear()


@pytest.fixture
def report(redis_server):
    """A report about an hour of a cluster."""
    cluster = Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    params = {"from_ms": 0, "to_ms": HOUR_MS}
    return Report.objects.create(kind=THROUGHPUT_AND_LAG, cluster=cluster, params=params)


def figures(spark, report):
    return KINDS[report.kind].compute(spark, report, lambda stage: None).figures


def test_the_written_history_in_the_time_of_a_report_is_a_figure_of_it(spark, no_history, report):
    assert "written_from_ms" not in figures(spark, report)
    written_range.store(current(), "local", WrittenRange(-1, 60_000, "recorded"))
    found = figures(spark, report)
    assert (found["written_from_ms"], found["written_to_ms"]) == (-1, 60_000)


def test_a_report_of_minutes_says_that_only_hours_are_left(spark, rolled_root, report):
    for level in (RAW, MINUTE):
        rolled_root.delete_folder(cluster_folder("local"), level_folder(level))
    report.params = {"from_ms": START_MS, "to_ms": START_MS + HOUR_MS}
    found = figures(spark, report)
    assert (found["ticks"], found["only_level"]) == (0, "hour")
    assert found["longest_too_short_ms"] == 5 * 24 * HOUR_MS


def test_a_report_of_minutes_says_of_which_part_only_hours_are_left(spark, rolled_root, report):
    rolled_root.delete_folder(cluster_folder("local"), level_folder(RAW))
    report.params = {"from_ms": START_MS, "to_ms": START_MS + 3 * HOUR_MS}
    assert "left_out" not in figures(spark, report)
    folder = SpanFolder("local", MINUTE, MINUTE.span_of(START_MS))
    before = manifest.load(rolled_root, folder)
    kept = [file for file in before.files if file.min_at_ms >= START_MS + HOUR_MS]
    manifest.replace(rolled_root, folder, before, kept)
    found = figures(spark, report)
    assert found["ticks"] > 0
    assert "only_level" not in found
    assert found["left_out"] == [
        {
            "level": "hour",
            "from_ms": START_MS,
            "to_ms": START_MS + HOUR_MS,
            "longest_too_short_ms": 5 * 24 * HOUR_MS,
        }
    ]
