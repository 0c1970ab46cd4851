"""`python -m tests.monitoring.pipeline.do_all`: does all jobs of the cluster `local`, then ends.

For tests that kill it. Without a database and Redis: what was done is in the manifests alone.
"""

import django
from pyspark.sql import SparkSession

from monitoring.history.levels import DAY_MS, LEVELS
from monitoring.history.root import current
from monitoring.pipeline import coverage, jobs, plan, workspace
from monitoring.spark.config import from_settings
from monitoring.spark.session import open_session
from tests.monitoring.pipeline.made_history import START_MS


def main() -> None:
    django.setup()
    with open_session(from_settings()) as spark:
        do_all(spark)


def do_all(spark: SparkSession) -> None:
    now_ms, kept = START_MS + DAY_MS * 2, dict.fromkeys(LEVELS, 0)
    while True:
        listed = coverage.files(current(), "local")
        waiting = plan.roll_ups(coverage.coverage(current(), listed), kept, now_ms)
        due = [*waiting, *plan.merges(listed, waiting, now_ms)]
        if not due:
            return
        with workspace.opened(current(), "local") as space:
            jobs.run(spark, space, due[0])


if __name__ == "__main__":
    main()
