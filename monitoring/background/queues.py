"""The table of Celery queues: the tasks of each, and the options of its worker.

monitoring/celery.py makes the task routes from it, monitoring/worker.py (called in the Procfile)
starts a worker, and stack/process_table.py has a process for each queue. Each queue has its own
worker, so that tasks that wait (for a webhook, a slow cluster or Spark) do not block others. Pure.

A task has the name that Celery gives it: its module and its function. So every task is in a
`tasks.py`, and tasks are sent by their names where the sender must not import them.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and its worker."""

    name: str
    tasks: tuple[str, ...]
    pool: Literal["prefork", "threads"] = "threads"  # only forked processes have time limits
    concurrency: int = 1  # threads or processes
    process: str = ""  # the name in the Procfile; empty = the queue's name
    # The expiry of tasks that are sent on demand; those of beat have their own (periodic_tasks.py).
    expires_s: int | None = None
    soft_time_limit_s: int | None = None
    time_limit_s: int | None = None
    has_process_for_each_task: bool = False

    @property
    def process_name(self) -> str:
        return self.process or self.name

    def worker_arguments(self) -> list[str]:
        """The arguments of `celery worker`. Each thread or process prefetches one message."""
        arguments = ["-Q", self.name, "-n", f"{self.name}@%h", "--pool", self.pool]
        arguments += ["-c", str(self.concurrency), "--prefetch-multiplier", "1"]
        if self.soft_time_limit_s:
            arguments += ["--soft-time-limit", str(self.soft_time_limit_s)]
        if self.time_limit_s:
            arguments += ["--time-limit", str(self.time_limit_s)]
        if self.has_process_for_each_task:
            arguments += ["--max-tasks-per-child", "1"]
        return arguments


_ALL = (
    # One thread, which owns the connections to the clusters.
    Queue("sampling", ("monitoring.sampling.tasks.sample",)),
    # A plan that waited for so long should be reviewed again (console/actions/expiry.py).
    Queue("actions", ("console.actions.tasks.apply_plan",), concurrency=4, expires_s=15 * 60),
    # A webhook has a time-out of 10 s and uses at most two threads (alerts/delivery_queue.py).
    Queue(
        "deliveries",
        ("monitoring.alerts.tasks.deliver", "monitoring.alerts.tasks.enqueue_due_deliveries"),
        concurrency=16,
        expires_s=120,
    ),
    # History, and the periodic cleanup tasks of other apps.
    Queue(
        "history",
        (
            "monitoring.history.tasks.flush",
            "monitoring.history.tasks.delete_unlisted",
            "monitoring.alerts.tasks.delete_old_alerts",
            "monitoring.cluster_events.tasks.delete_old_events",
            "monitoring.reports.tasks.requeue_lost_reports",
            "monitoring.pipeline.tasks.send_roll_ups",
            "monitoring.pipeline.tasks.refresh",
            "monitoring.pipeline.tasks.end_lost_runs",
            "console.actions.tasks.end_lost_plans",
            "console.audit.tasks.drop_refused_sign_ins",
            "console.produce.tasks.delete_old_contents",
        ),
        concurrency=4,
    ),
    Queue(
        "spark",
        ("monitoring.reports.tasks.run", "monitoring.pipeline.tasks.roll_up"),
        pool="prefork",
        process="spark-jobs",  # `spark` is the server
        soft_time_limit_s=15 * 60,
        time_limit_s=16 * 60,
        # A task loads PySpark, 0.3 CPU-seconds; a process that idles with it has 56 MB more.
        has_process_for_each_task=True,
    ),
)
QUEUES: dict[str, Queue] = {queue.name: queue for queue in _ALL}


def routes() -> dict[str, dict[str, str]]:
    """Celery's `task_routes`."""
    return {task: {"queue": queue.name} for queue in _ALL for task in queue.tasks}
