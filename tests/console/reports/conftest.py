"""The cast: a viewer, an operator, an admin, somebody without a role, and nobody at all."""

import uuid

import pyarrow as pa
import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from console.accounts.services import grant
from monitoring.console_topics import NAMES
from monitoring.models import Cluster, Report
from monitoring.reports import result_files
from monitoring.reports.charts import throughput_and_lag_charts
from monitoring.reports.kinds import THROUGHPUT_AND_LAG
from monitoring.reports.models import State
from monitoring.spark.jobs.throughput_and_lag import headline

T0 = 1_760_000_040_000
ROLES = ["viewer", "operator", "admin"]


@pytest.fixture(autouse=True)
def _world(db, redis_server):
    """Every page needs the database, and looks at the last tick."""


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(
        slug="local", name="Local", bootstrap_servers="127.0.0.1:1", holds_own_topics=True
    )


@pytest.fixture
def other_cluster() -> Cluster:
    return Cluster.objects.create(slug="other", name="Other", bootstrap_servers="127.0.0.1:2")


def client_of(role: str, cluster: str = "", **patterns: list[str]) -> Client:
    """A browser signed in with that role; "" = signed in without any; "nobody" = a stranger."""
    client = Client()
    if role == "nobody":
        return client
    user = get_user_model().objects.create_user(f"{role or 'outsider'}-{uuid.uuid4().hex[:6]}")
    if role:
        grant(user, role, cluster, **patterns)
    client.force_login(user)
    return client


def a_report(cluster: Cluster, **fields: object) -> Report:
    return Report.objects.create(
        **{
            "kind": THROUGHPUT_AND_LAG,
            "cluster": cluster,
            "params": {"from_ms": T0, "to_ms": T0 + 3_600_000},
            "hidden_topics": sorted(NAMES),
        }
        | fields
    )


def a_finished_report(
    cluster: Cluster, more_figures: dict[str, object] | None = None, **fields: object
) -> Report:
    """A report with a small stored result: two topics, one of them unknown, and two groups."""
    report = a_report(cluster, state=State.DONE, progress=100, **fields)
    tables = {
        "topics": pa.Table.from_pylist(TOPICS),
        "topic_series": pa.Table.from_pylist(TOPIC_SERIES),
        "groups": pa.Table.from_pylist(GROUPS),
        "group_series": pa.Table.from_pylist(GROUP_SERIES),
    }
    rhythm = {"ticks": 720, "first_at_ms": T0, "last_at_ms": T0 + 3_595_000, "interval_ms": 5000}
    figures = rhythm | {"bucket_ms": 60_000} | headline(tables["topics"], tables["groups"])
    figures |= more_figures or {}
    charts = throughput_and_lag_charts(tables, figures)
    report.result_dir = result_files.write(report.id, tables, figures, charts)
    report.save()
    return report


_UNKNOWN = dict.fromkeys(
    [
        "messages", "messages_per_minute_mean", "messages_per_minute_peak", "messages_peak_at_ms",
        "bytes", "bytes_per_minute_mean", "bytes_per_minute_peak",
    ]
)  # fmt: skip
TOPICS = [
    {
        "topic": "orders", "messages": 12345, "messages_per_minute_mean": 205.75,
        "messages_per_minute_peak": 900.0, "messages_peak_at_ms": T0 + 60_000, "bytes": 2_097_152,
        "bytes_per_minute_mean": 34952.5, "bytes_per_minute_peak": 70000.0,
        "messages_unknown": 0, "bytes_unknown": 0,
    },
    {"topic": "<b>dark</b>"} | _UNKNOWN
    | {"messages_unknown": 720, "bytes_unknown": 720},
]  # fmt: skip
TOPIC_SERIES = [
    {"topic": "orders", "bucket_ms": T0, "messages_per_minute": 200.0, "bytes_per_minute": 1e4},
    {"topic": "orders", "bucket_ms": T0 + 60_000, "messages_per_minute": 900.0,
     "bytes_per_minute": 7e4},
]  # fmt: skip
_NO_LAG = dict.fromkeys(["lag_min", "lag_mean", "lag_max", "lag_max_at_ms", "lag_last"])
GROUPS = [
    {
        "group": "slow", "lag_min": 0, "lag_mean": 50.5, "lag_max": 480,
        "lag_max_at_ms": T0 + 1000, "lag_last": 7, "over_zero_ms": 1_200_000, "known_ms": 3_600_000,
        "ahead_max": 1,
    },
    {"group": "idle", "ahead_max": 0} | _NO_LAG
    | {"over_zero_ms": None, "known_ms": None},
]  # fmt: skip
GROUP_SERIES = [{"group": "slow", "bucket_ms": T0, "lag_max": 480}]
