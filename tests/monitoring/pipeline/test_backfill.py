"""A back-fill goes on by its own jobs, in order, and past none that was not computed.

`run_next_job._with_spark` is replaced: what Spark computes is for
test_run_next_job.py and test_do_job.py.
"""

import pytest

from monitoring.clusters.models import Cluster
from monitoring.history.levels import HOUR, HOUR_MS, MINUTE
from monitoring.pipeline import backfill, run_next_job, stored_runs
from monitoring.pipeline.do_job import Written
from monitoring.pipeline.models import Backfill, LastBackfill, PipelineRun, RunState
from monitoring.spark.session import SparkStarting
from tests.monitoring.pipeline.made_history import START_MS, ticks, write

pytestmark = pytest.mark.django_db(transaction=True)

HOURS = [START_MS + number * HOUR_MS for number in range(3)]
END_MS = START_MS + 3 * HOUR_MS
NO_SPARK = SparkStarting("not yet")


@pytest.fixture
def cluster(root, redis_server, monkeypatch):
    """A cluster with three finished hours of raw ticks, of which nothing expires."""
    monkeypatch.setattr(run_next_job, "kept_from_ms", lambda *_: 0)
    monkeypatch.setattr(run_next_job, "now_ms", lambda: START_MS + 4 * HOUR_MS)
    for hour_ms in HOURS:
        write(root, ticks(1, 1, hour_ms, has_topics=False))
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


@pytest.fixture
def computed(monkeypatch):
    """The jobs that were given to Spark, and by start what it raises or calls."""
    jobs, outcome = [], {}

    def with_spark(root, slug, job):
        jobs.append((job.start_ms, job.levels))
        found = outcome.get(job.start_ms)
        if isinstance(found, Exception):
            raise found
        if found:
            found()
        return Written(1, 1)

    monkeypatch.setattr(run_next_job, "_with_spark", with_spark)
    return jobs, outcome


@pytest.fixture
def rolled_up(monkeypatch):
    """Nothing waits for the normal path but the jobs of this list, and nothing is merged."""
    found = []
    monkeypatch.setattr(run_next_job, "_roll_ups", lambda *_: list(found))
    monkeypatch.setattr(run_next_job.due_jobs, "merges", lambda *_: [])
    return found


def start(cluster, from_ms=START_MS, to_ms=END_MS):
    backfill.start(cluster, from_ms, to_ms)


def position(cluster):
    return Backfill.objects.values_list("next_ms", flat=True).get(cluster=cluster)


def run_of(start_ms):
    return PipelineRun.objects.get(kind="hour", start_ms=start_ms)


def retry_now():
    PipelineRun.objects.update(started_at=stored_runs.timezone.now() - stored_runs.RETRY_MAX)


def test_it_computes_each_hour_once_in_order_and_ends(cluster, computed, rolled_up):
    start(cluster)
    assert run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[1]
    assert run_next_job.run_next(cluster)
    assert not run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0]] == HOURS
    assert not Backfill.objects.exists()


def test_one_that_is_done_leaves_what_it_did_until_another_one_is_done(
    cluster, computed, rolled_up
):
    began = stored_runs.timezone.now()
    start(cluster)
    run_next_job.run_next(cluster)
    backfill.stop(cluster)
    assert not LastBackfill.objects.exists()
    start(cluster)
    for _ in HOURS:
        run_next_job.run_next(cluster)
    done = LastBackfill.objects.get()
    assert (done.from_ms, done.to_ms, done.hours, done.days) == (START_MS, END_MS, 3, 0)
    assert began <= done.ended_at <= stored_runs.timezone.now()
    start(cluster, START_MS, HOURS[1])
    run_next_job.run_next(cluster)
    done = LastBackfill.objects.get()
    assert (done.to_ms, done.hours) == (HOURS[1], 1)


def test_a_later_hour_that_is_rolled_up_meanwhile_does_not_move_it(cluster, computed, rolled_up):
    start(cluster)
    rolled_up.append(run_next_job.RollUpJob(HOURS[2], (HOUR,)))
    run_next_job.run_next(cluster)
    assert computed[0] == [(HOURS[2], (HOUR,))]
    assert position(cluster) == HOURS[0]
    rolled_up.clear()
    for _ in HOURS:
        run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0][1:]] == HOURS


def test_its_next_hour_is_computed_once_if_the_normal_path_has_it_too(cluster, computed, rolled_up):
    start(cluster)
    rolled_up.append(run_next_job.RollUpJob(HOURS[0], (MINUTE, HOUR)))
    run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[1]


def test_one_that_is_stopped_and_started_again_begins_at_its_start(cluster, computed, rolled_up):
    def stopped_and_started():
        assert backfill.stop(cluster)
        start(cluster)

    start(cluster)
    run_next_job.run_next(cluster)
    computed[1][HOURS[1]] = stopped_and_started
    run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[0]
    computed[1].clear()
    for _ in HOURS:
        run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0][2:]] == HOURS


def test_one_that_is_stopped_at_its_first_hour_and_started_again_computes_that_hour(
    cluster, computed, rolled_up
):
    def stopped_and_started():
        backfill.stop(cluster)
        start(cluster)

    start(cluster)
    computed[1][HOURS[0]] = stopped_and_started
    run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[0]


def test_hours_without_raw_ticks_are_passed(cluster, computed, rolled_up):
    start(cluster, START_MS - 5 * HOUR_MS)
    run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[1]


def test_an_hour_that_fails_is_tried_again_later_and_the_next_ones_wait_for_it(
    cluster, computed, rolled_up
):
    start(cluster)
    computed[1][HOURS[0]] = OSError("broken")
    run_next_job.run_next(cluster)
    run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0]] == [HOURS[0]]
    assert (run_of(HOURS[0]).state, run_of(HOURS[0]).attempt) == (RunState.FAILED, 1)
    assert position(cluster) == HOURS[0]
    computed[1].clear()
    retry_now()
    run_next_job.run_next(cluster)
    assert run_of(HOURS[0]).state == RunState.DONE
    assert position(cluster) == HOURS[1]


def test_after_three_failures_it_waits_to_be_resumed_and_the_failed_run_stays(
    cluster, computed, rolled_up
):
    start(cluster)
    computed[1][HOURS[0]] = OSError("broken")
    assert not backfill.resume(cluster)
    for _ in range(backfill.ATTEMPTS_MAX):
        run_next_job.run_next(cluster)
        retry_now()
    assert not run_next_job.run_next(cluster)
    assert len(computed[0]) == backfill.ATTEMPTS_MAX
    failed = run_of(HOURS[0])
    assert backfill.has_failed(failed)
    assert backfill.next_run(Backfill.objects.get()) == failed
    with pytest.raises(ValueError, match="failed"):
        start(cluster)

    computed[1].clear()
    assert backfill.resume(cluster)
    assert not backfill.resume(cluster)
    run_next_job.run_next(cluster)
    assert run_of(HOURS[0]).state == RunState.DONE
    assert position(cluster) == HOURS[1]


def test_hours_that_failed_before_its_start_begin_to_count_anew(cluster, computed, rolled_up):
    for hour_ms in HOURS[:2]:
        PipelineRun.objects.create(
            cluster=cluster, kind="hour", start_ms=hour_ms, state=RunState.FAILED,
            attempt=backfill.ATTEMPTS_MAX, started_at=stored_runs.timezone.now(),
        )  # fmt: skip
    start(cluster)
    assert not backfill.has_failed(backfill.next_run(Backfill.objects.get()))
    for _ in HOURS:
        run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0]] == HOURS


def test_one_that_failed_and_is_stopped_and_started_again_is_not_failed(
    cluster, computed, rolled_up
):
    start(cluster)
    computed[1][HOURS[0]] = OSError("broken")
    for _ in range(backfill.ATTEMPTS_MAX):
        run_next_job.run_next(cluster)
        retry_now()
    backfill.stop(cluster)
    start(cluster)
    computed[1].clear()
    run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[1]


def test_other_jobs_go_on_while_it_waits(cluster, computed, rolled_up):
    start(cluster, START_MS, HOURS[1])
    computed[1][HOURS[0]] = OSError("broken")
    run_next_job.run_next(cluster)
    rolled_up.append(run_next_job.RollUpJob(HOURS[2], (MINUTE, HOUR)))
    run_next_job.run_next(cluster)
    assert [start_ms for start_ms, _ in computed[0]] == [HOURS[0], HOURS[2]]
    assert position(cluster) == HOURS[0]


def test_the_failed_run_of_one_that_was_stopped_is_forgotten(cluster, computed, rolled_up):
    start(cluster)
    computed[1][HOURS[0]] = OSError("broken")
    run_next_job.run_next(cluster)
    backfill.stop(cluster)
    run_next_job.run_next(cluster)
    assert not PipelineRun.objects.exists()


def test_its_cluster_may_be_deleted_while_a_job_runs(cluster, computed, rolled_up):
    start(cluster)
    computed[1][HOURS[0]] = Cluster.objects.all().delete
    run_next_job.run_next(cluster)
    assert not Backfill.objects.exists()
    assert not PipelineRun.objects.exists()


def test_a_second_one_cannot_be_started(cluster, rolled_up):
    start(cluster)
    with pytest.raises(ValueError, match="running"):
        start(cluster)


def test_it_waits_for_spark_at_its_hour(cluster, computed, rolled_up):
    start(cluster)
    computed[1][HOURS[0]] = NO_SPARK
    for _ in range(backfill.ATTEMPTS_MAX + 1):
        assert not run_next_job.run_next(cluster)
    assert position(cluster) == HOURS[0]
    assert not backfill.has_failed(run_of(HOURS[0]))


def test_a_day_comes_after_its_hours(root, cluster, computed, rolled_up, monkeypatch):
    day = run_next_job.RollUpJob(START_MS, (run_next_job.LEVELS[-1],))
    hour = run_next_job.RollUpJob(HOURS[0], (MINUTE, HOUR))
    monkeypatch.setattr(run_next_job.due_jobs, "backfill", lambda *_: [hour, day])
    start(cluster, START_MS, START_MS + 24 * HOUR_MS)
    run_next_job.run_next(cluster)
    found = Backfill.objects.get()
    run = PipelineRun.objects.create(
        cluster=cluster, kind="day", start_ms=START_MS, state=RunState.FAILED, attempt=1,
        started_at=stored_runs.timezone.now(),
    )  # fmt: skip
    assert backfill.next_run(found) == run
    retry_now()
    assert not run_next_job.run_next(cluster)
    assert not Backfill.objects.exists()
    assert LastBackfill.objects.filter(hours=1, days=1).exists()
