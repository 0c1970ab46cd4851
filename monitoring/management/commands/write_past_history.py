"""`manage.py write_past_history`: written history, for trying charts and reports.

It needs Spark, so the stack runs. The range is marked (monitoring/history/written_range.py). It
has the lock of the pipeline, so that no job computes the range, and none of it expires, meanwhile.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from monitoring.clock import now_ms
from monitoring.clusters.models import Cluster
from monitoring.history import written_range
from monitoring.history.levels import DAY_MS, bucket_start
from monitoring.history.root_folder import Root, current
from monitoring.history.written_range import WrittenRange
from monitoring.pipeline import cluster_lock, run_next_job
from monitoring.redis_client import RedisDown
from monitoring.ticks import tick_stream
from monitoring.written_history import pattern, synthetic_hour, writing
from monitoring.written_history.pattern import Hour, NotSteady
from monitoring.written_history.writing import CannotWrite

DAYS_MAX = 3660
WAIT_S = 600.0  # for a job of the pipeline


class Command(BaseCommand):
    help = (
        "Writes history of the days before the first sample of a cluster, so that charts and "
        "reports can be tried. The page Pipeline shows which range was written."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster", help="the cluster's name in URLs, for example local")
        parser.add_argument("--days", type=int, default=90, help="how many days (default: 90)")
        parser.add_argument(
            "--synthetic",
            action="store_true",
            help="invent the traffic of an hour, instead of repeating the recorded hours",
        )
        parser.add_argument("--remove", action="store_true", help="remove the written history")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, days = options["cluster"], options["days"]
        try:
            cluster = Cluster.objects.filter(slug=slug).first()
            if cluster is None:
                names = ", ".join(Cluster.objects.values_list("slug", flat=True)) or "none"
                raise CannotWrite(f"there is no such cluster; there are: {names}")
            if not options["remove"] and not 1 <= days <= DAYS_MAX:
                raise CannotWrite(f"--days is between 1 and {DAYS_MAX}")
            with cluster_lock.held(slug, WAIT_S) as is_held:
                if not is_held:
                    raise CannotWrite("the pipeline is busy with it: try again in some minutes")
                if options["remove"]:
                    removed = writing.remove(current(), slug)
                    self.stdout.write(f"Removed the written history {_text(removed)}.")
                else:
                    self._write(current(), slug, days, options["synthetic"])
            run_next_job.store_state(cluster)  # the page Pipeline shows it
        except (CannotWrite, NotSteady, RedisDown, OSError) as error:
            sys.exit(f"aerie: {slug}: {error}")

    def _write(self, root: Root, slug: str, days: int, is_synthetic: bool) -> None:
        from monitoring.spark.server_config import from_settings
        from monitoring.spark.session import SparkUnavailable, open_session

        at_ms = now_ms()
        if written_range.load(root, slug) is not None:
            raise CannotWrite("it has written history already: remove that first, with --remove")
        from_ms, to_ms = writing.range_before(root, slug, days, at_ms)
        day_ms = bucket_start(to_ms - 1, DAY_MS)
        hours = [] if is_synthetic else writing.recorded_hours(root, slug, at_ms)
        if hours:
            self.stdout.write(f"The pattern is {len(hours)} recorded hours.")
        else:
            if not is_synthetic:
                self.stdout.write("No complete hour is recorded yet: the traffic is invented.")
            hours = [_synthetic_hour(slug, day_ms)]
            is_synthetic = True
        day = pattern.day_of_hours(hours, day_ms)
        kind = "synthetic" if is_synthetic else "recorded"
        written = WrittenRange(from_ms, to_ms, kind)
        try:
            with open_session(from_settings()) as spark:
                for date in writing.write(spark, root, slug, day, day_ms, written, at_ms):
                    self.stdout.write(date)
        except SparkUnavailable as error:
            raise CannotWrite(f"Spark is not available: {error}. Start the stack first") from error
        self.stdout.write(f"Wrote the history {_text(written)}. Remove it with --remove.")


def _synthetic_hour(slug: str, start_ms: int) -> Hour:
    sample = tick_stream.last_ok_tick(slug, may_block=True)
    if sample is None:
        raise CannotWrite("it has no sample yet: start the stack and wait for the first one")
    interval_ms = tick_stream.interval_ms()
    writing.check_rows(synthetic_hour.rows_a_day(sample, interval_ms))
    return synthetic_hour.hour(sample, start_ms, interval_ms)


def _text(written: WrittenRange) -> str:
    first, end = (
        datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        for at_ms in (written.from_ms, written.to_ms)
    )
    return f"from {first} to {end} UTC"
