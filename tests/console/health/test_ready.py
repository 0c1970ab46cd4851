"""The parts that the console needs: /readyz names one that fails, and pages say it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring import readiness_checks
from monitoring.background import stored_heartbeats
from monitoring.background.queues import QUEUES
from monitoring.history import flush_state
from monitoring.models import AlertDelivery, AlertRule
from monitoring.spark.probe import ProbeResult, SparkProbe, SparkState
from tests.console.conftest import BROKERS, sample

NAMES = [*QUEUES, "beat"]
PROCESSES = [*(queue.process_name for queue in QUEUES.values()), "beat", "spark"]
LONG_AGO_MS = 10 * stored_heartbeats.SILENT_MS


class FixedProbe(SparkProbe):
    """A probe with a fixed result."""

    def __init__(self, state):
        super().__init__()
        self._fixed = ProbeResult(state, 1_000_000)

    def latest(self, wait_s=0.0):
        return self._fixed


@pytest.fixture
def spark(monkeypatch):
    def is_in(state):
        monkeypatch.setattr(readiness_checks, "spark_probe", FixedProbe(state))

    is_in(SparkState.OK)
    return is_in


@pytest.fixture
def stack(settings, monkeypatch, redis_server, spark, clusters):
    """Every process runs, for long; `fall_silent(name)` makes one that is not heard any more."""
    settings.AERIE_PROCESSES = PROCESSES
    monkeypatch.setattr(readiness_checks, "_started_s", -1e9)
    monkeypatch.setattr(readiness_checks, "CACHE_S", 0.0)
    for name in NAMES:
        stored_heartbeats.record(name)
    sample("local")
    sample("staging")
    return redis_server.client()


def fall_silent(client, name):
    client.hincrby(stored_heartbeats.KEY, name, -LONG_AGO_MS)


def readyz(client):
    response = client.get("/readyz")
    return response.status_code, response.json()


def test_readyz_is_200_when_every_part_works(client, stack):
    status, told = readyz(client)
    assert set(told.values()) == {"ok"}
    workers = {f"worker {name}" for name in QUEUES}
    named = workers | {"beat", "database", "redis", "spark", "deliveries", "pipeline"}
    assert set(told) == named | {"cluster local", "cluster staging"}
    assert status == 200


@pytest.mark.parametrize("name", NAMES)
def test_a_process_without_heartbeat_is_named_and_shown_on_pages(
    client_of, client, viewer, stack, name
):
    fall_silent(stack, name)
    status, told = readyz(client)
    shown = name if name == "beat" else f"worker {name}"
    assert status == 503
    assert [part for part, text in told.items() if text != "ok"] == [shown]
    assert told[shown].startswith("stopped: no heartbeat since")
    title = "(Celery beat) has stopped" if name == "beat" else f"of the queue “{name}” has stopped"
    for path in ("/c/local/", "/c/local/topics", "/clusters", "/c/local/live-status"):
        page = client_of(viewer).get(path).content.decode()
        assert title in page, path
    stored_heartbeats.record(name)
    assert readyz(client)[0] == 200
    assert "has stopped" not in client_of(viewer).get("/c/local/").content.decode()


def test_stopped_demo_traffic_is_reported_but_readyz_is_200(
    client, stack, settings, client_of, viewer
):
    settings.AERIE_PROCESSES = [*PROCESSES, "demo"]
    stored_heartbeats.record("demo")
    assert readyz(client)[1]["demo"] == "ok"
    fall_silent(stack, "demo")
    status, told = readyz(client)
    assert (status, told["demo"].startswith("stopped: no heartbeat since")) == (200, True)
    assert "The demo traffic has stopped" in client_of(viewer).get("/c/local/").content.decode()


def test_anonymous_users_see_no_banners(client, stack):
    fall_silent(stack, "actions")
    assert "has stopped" not in client.get("/login").content.decode()


def test_a_process_that_never_sent_a_heartbeat_is_reported_after_the_start_time(
    client, stack, monkeypatch, client_of, viewer
):
    stack.hdel(stored_heartbeats.KEY, "history")
    status, told = readyz(client)
    assert (status, told["worker history"]) == (503, "stopped: no heartbeat")
    assert "“history” has stopped" in client_of(viewer).get("/c/local/").content.decode()
    monkeypatch.setattr(readiness_checks, "START_S", 1e12)
    status, told = readyz(client)
    assert (status, told["worker history"]) == (503, "has sent no heartbeat yet")
    assert "has stopped" not in client_of(viewer).get("/c/local/").content.decode()


def test_disabled_processes_are_not_reported_as_missing(client, stack, settings, spark):
    settings.AERIE_PROCESSES = [name for name in PROCESSES if not name.startswith("spark")]
    stack.hdel(stored_heartbeats.KEY, "spark")
    spark(SparkState.ABSENT)
    status, told = readyz(client)
    assert (told["worker spark"], told["spark"]) == ("disabled here", "disabled here")
    assert status == 200


def test_a_history_that_cannot_be_written_is_named_and_reported(
    client, stack, settings, client_of, operator
):
    settings.AERIE_PROCESSES = [name for name in PROCESSES if not name.startswith("spark")]
    flush_state.note_begun("local", 1_760_000_040_000)
    flush_state.note_failed("local", OSError("no such bucket"))
    status, told = readyz(client)
    line = "new samples cannot be written to the history since 2025-10-09 08:54:00 UTC"
    assert (status, told["pipeline"]) == (503, line)
    title = "New samples cannot be written to the history"
    assert title in client_of(operator).get("/c/local/").content.decode()
    page = client_of(operator).get("/c/local/pipeline").content.decode()
    assert f"{title} since 2025-10-09 08:54:00 UTC." in page
    assert "no such bucket" in page
    flush_state.note_done("local")
    assert readyz(client)[1]["pipeline"] == "disabled here"
    assert title not in client_of(operator).get("/c/local/pipeline").content.decode()


def test_without_redis_no_process_is_called_stopped(client, stack, redis_server, client_of, viewer):
    redis_server.kill()
    status, told = readyz(client)
    assert (status, told["redis"]) == (503, "does not answer")
    assert told["worker actions"] == "unknown: Redis does not work"
    assert told["database"] == "ok"
    assert "has stopped" not in client_of(viewer).get("/c/local/").content.decode()


def test_a_full_redis_is_named_and_reported(client, stack, client_of, viewer):
    stack.config_set("maxmemory", 1)
    try:
        status, told = readyz(client)
        page = client_of(viewer).get("/c/local/").content.decode()
    finally:
        stack.config_set("maxmemory", 0)
    assert (status, told["redis"]) == (503, "is full and refuses writes")
    assert "Redis is full" in page


@pytest.mark.parametrize(
    ("state", "said", "on_pages"),
    [
        (SparkState.FROZEN, "accepts connections but does not answer since", True),
        (SparkState.REFUSED, "refuses the token since", True),
        (SparkState.ABSENT, "nothing listens on its port, localhost:", False),
        (SparkState.NO_MASTER, "waits for its master spark://10.1.0.5:7077, which cannot", True),
        (SparkState.UNKNOWN, "has not been checked yet", False),
    ],
)
def test_a_spark_that_does_not_work_is_named(
    client, stack, settings, spark, state, said, on_pages, client_of, viewer
):
    settings.SPARK_MASTER = "spark://10.1.0.5:7077"
    spark(state)
    status, told = readyz(client)
    assert (status, told["spark"].startswith(said)) == (503, True)
    page = client_of(viewer).get("/c/local/reports").content.decode()
    assert ("Reports wait until it answers" in page or "No report can be" in page) == on_pages


@pytest.fixture
def owed(clusters):
    """A message that has been due for an hour."""
    rule = AlertRule.objects.create(
        cluster=clusters[0], name="late", group_pattern="*", threshold=1
    )
    hour = timezone.now() - timedelta(hours=1)
    return AlertDelivery.objects.create(rule=rule, event="test", payload={}, next_attempt_at=hour)


def test_an_overdue_webhook_message_is_reported(client, stack, owed, client_of, viewer):
    status, told = readyz(client)
    said = "1 webhook message is overdue"
    assert (status, told["deliveries"].startswith(said)) == (503, True)
    assert said in client_of(viewer).get("/c/local/alerts").content.decode()


def test_a_failing_webhook_is_reported_as_an_external_problem(
    client, stack, owed, client_of, viewer
):
    owed.attempts, owed.error, owed.attempted_at = 3, "no answer within 10 seconds", timezone.now()
    owed.save()
    status, told = readyz(client)
    assert status == 200
    assert told["deliveries"].startswith("ok, but the webhook of 1 rule fails")
    assert "overdue" not in client_of(viewer).get("/c/local/alerts").content.decode()


def test_a_broker_that_is_down_is_reported_and_readyz_is_200(client, stack):
    sample("local", sample("local") + 1, brokers=[BROKERS[0] | {"up": False}])
    status, told = readyz(client)
    assert status == 200
    assert told["cluster local"].startswith("sampled, but broker 1 does not answer")


def test_invalid_values_of_a_cluster_are_reported(client, stack):
    sample("local", sample("local") + 1, invalid=["topic a: partition 20000000, though it has 1"])
    status, told = readyz(client)
    assert status == 200
    said = "sampled, but some of its values are invalid and are ignored"
    assert told["cluster local"].startswith(said)


def test_missing_samples_are_reported_even_if_all_workers_run(client, stack):
    stack.delete("aerie:staging:ticks")
    sample("staging", 1000)
    status, told = readyz(client)
    assert (status, told["cluster staging"].startswith("no new samples since")) == (503, True)
