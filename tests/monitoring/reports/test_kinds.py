"""What a kind of report computes from the history of its cluster."""

import pytest

from monitoring.clusters.models import Cluster
from monitoring.history import writer, written_range
from monitoring.history.root_folder import current
from monitoring.history.written_range import WrittenRange
from monitoring.reports.kinds import KINDS, THROUGHPUT_AND_LAG
from monitoring.reports.models import Report

pytestmark = [pytest.mark.spark, pytest.mark.django_db]
HOUR_MS = 3_600_000


@pytest.fixture
def report(redis_server, tmp_path, settings):
    """A report about an hour of a cluster without a history."""
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    writer._changes_by_cluster.clear()
    cluster = Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    params = {"from_ms": 0, "to_ms": HOUR_MS}
    return Report.objects.create(kind=THROUGHPUT_AND_LAG, cluster=cluster, params=params)


def figures(spark, report):
    return KINDS[report.kind].compute(spark, report, lambda stage: None).figures


def test_the_written_history_in_the_time_of_a_report_is_a_figure_of_it(spark, report):
    assert "written_from_ms" not in figures(spark, report)
    written_range.store(current(), "local", WrittenRange(-1, 60_000, "recorded"))
    found = figures(spark, report)
    assert (found["written_from_ms"], found["written_to_ms"]) == (-1, 60_000)
