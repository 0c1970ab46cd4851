"""What is stored of a job: only attempts that began count, and delay the next one."""

import pytest
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.error_reason import loads
from monitoring.history.levels import HOUR, MINUTE
from monitoring.pipeline import stored_runs
from monitoring.pipeline.do_job import Written
from monitoring.pipeline.due_jobs import RollUpJob
from monitoring.pipeline.models import PipelineRun, RunState
from monitoring.spark.session import SparkStarting

pytestmark = pytest.mark.django_db

JOB = RollUpJob(0, (MINUTE, HOUR))
NO_SPARK = SparkStarting("not yet")
LOST = RuntimeError("UNAVAILABLE: Connection refused")


@pytest.fixture
def cluster():
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


def ended(cluster, *results):
    """The run of a job after these results."""
    for result in results:
        stored_runs.end(stored_runs.begin(cluster, JOB), result, 1.0)
    return PipelineRun.objects.get()


def overtaken(cluster):
    """The run of a worker that lost the cluster's lock, and the same of the worker that has it."""
    first = stored_runs.begin(cluster, JOB)
    stored_runs.mark_lost(cluster)
    return first, stored_runs.begin(cluster, JOB)


def code(run):
    return loads(run.error).code


def test_a_wait_for_spark_is_no_attempt(cluster):
    waiting = ended(cluster, *[NO_SPARK] * 20)
    assert (waiting.state, waiting.attempt, code(waiting)) == ("waiting", 0, "spark_not_available")
    failed = ended(cluster, ValueError("x"))
    assert (failed.state, failed.attempt) == (RunState.FAILED, 1)
    assert stored_runs.retry_at(failed) == failed.started_at + stored_runs.RETRY


def test_another_worker_that_was_quicker_is_no_attempt(cluster):
    waiting = ended(cluster, FileExistsError("x"))
    assert (waiting.state, waiting.attempt, code(waiting)) == ("waiting", 0, "other_worker")


def test_a_job_that_a_worker_without_its_lock_did_is_done(cluster):
    first, second = overtaken(cluster)
    stored_runs.end(first, Written(3, 4), 1.0)
    stored_runs.end(second, FileExistsError("x"), 1.0)
    done = PipelineRun.objects.get()
    assert (done.state, done.attempt, done.rows, done.error) == (RunState.DONE, 0, 3, "")


def test_a_failure_of_a_worker_without_its_lock_is_not_stored(cluster):
    first, second = overtaken(cluster)
    stored_runs.end(first, ValueError("x"), 1.0)
    assert PipelineRun.objects.get().state == RunState.RUNNING
    stored_runs.end(second, Written(3, 4), 1.0)
    assert PipelineRun.objects.get().state == RunState.DONE


def test_the_run_of_a_cluster_that_was_deleted_meanwhile_is_not_stored(cluster):
    begun = stored_runs.begin(cluster, JOB)
    cluster.delete()
    stored_runs.end(begun, Written(3, 4), 1.0)
    assert not PipelineRun.objects.exists()


def test_a_job_in_which_spark_is_lost_each_time_lets_others_go_first(cluster):
    states = [ended(cluster, LOST).state for _ in range(stored_runs.LOST_MAX)]
    assert states == ["waiting"] * (stored_runs.LOST_MAX - 1) + ["failed"]
    assert code(PipelineRun.objects.get()) == "spark_not_available"


def test_each_failure_doubles_the_time_to_the_next_attempt(cluster):
    waits = []
    for _ in range(12):
        failed = ended(cluster, ValueError("x"))
        waits.append(stored_runs.retry_at(failed) - failed.started_at)
    assert waits[:3] == [stored_runs.RETRY, 2 * stored_runs.RETRY, 4 * stored_runs.RETRY]
    assert waits[-1] == stored_runs.RETRY_MAX


def test_a_job_that_was_done_begins_to_count_anew(cluster):
    done = ended(cluster, ValueError("x"), Written(3, 4))
    assert (done.state, done.attempt, done.rows, done.bytes) == (RunState.DONE, 0, 3, 4)


@pytest.mark.parametrize("attempts", range(1, stored_runs.LOST_MAX + 1))
def test_a_run_of_a_worker_that_ended_waits_until_it_was_lost_often(cluster, attempts):
    PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=0, state=RunState.RUNNING, attempt=attempts,
        started_at=timezone.now(),
    )  # fmt: skip
    stored_runs.mark_lost(cluster)
    run = PipelineRun.objects.get()
    assert (run.state, code(run)) == (
        "failed" if attempts == stored_runs.LOST_MAX else "waiting", "worker_lost"
    )  # fmt: skip


def test_what_is_not_due_any_more_is_forgotten_if_it_was_not_done(cluster):
    ended(cluster, ValueError("x"))
    stored_runs.delete_settled(cluster, {stored_runs.key_of(JOB)})
    assert stored_runs.failed(cluster).keys() == {("hour", 0)}
    stored_runs.delete_settled(cluster, set())
    assert not PipelineRun.objects.exists()
