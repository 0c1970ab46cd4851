"""`python -m tests.monitoring.pipeline.do_all`: does all jobs of the cluster `local`, then ends.

For tests that kill it. Without a database and Redis: what was done is in the manifests alone.
"""

import django
from pyspark.sql import SparkSession

from monitoring.history import manifest
from monitoring.history.levels import DAY_MS, LEVELS
from monitoring.history.root_folder import current
from monitoring.pipeline import do_job, due_jobs, workspace
from monitoring.pipeline.due_jobs import Job
from monitoring.pipeline.tick_counts import read_tick_counts
from monitoring.spark.server_config import from_settings
from monitoring.spark.session import open_session
from tests.monitoring.pipeline.made_history import START_MS


def main() -> None:
    django.setup()
    with open_session(from_settings()) as spark:
        do_all(spark)


def do_all(spark: SparkSession, now_ms: int = START_MS + 2 * DAY_MS) -> None:
    """Do all jobs of the current history, the first one first, until none is due."""
    while found := due(now_ms):
        run(spark, found[0])


def due(now_ms: int, *, merges: bool = True) -> list[Job]:
    listed = manifest.files_of_cluster(current(), "local")
    kept = dict.fromkeys(LEVELS, 0)
    waiting = due_jobs.roll_ups(read_tick_counts(current(), listed), kept, now_ms)
    return [*waiting, *(due_jobs.merges(listed, waiting, now_ms) if merges else ())]


def run(spark: SparkSession, job: Job) -> do_job.Written:
    with workspace.opened(current(), "local") as space:
        return do_job.run(spark, space, job)


if __name__ == "__main__":
    main()
