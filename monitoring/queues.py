"""The queues of Celery: which tasks each holds, and how its worker runs. One table for all.

`celery.py` routes by it, `worker.py` (which the Procfile calls) starts a worker by it, and
`stack/process_table.py` takes its processes from it. Each queue has a worker of its own, so that
what waits for others (a webhook that does not answer, a cluster that is slow, Spark) holds up
nobody else. Pure.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and its one worker."""

    name: str
    tasks: tuple[str, ...]
    threads: int = 0  # 0 = one forked process, which alone can be held to a time limit
    process: str = ""  # in the Procfile; as the queue, where nothing stands here
    expires_s: int | None = None  # of messages that are sent on demand; beat's have their own
    soft_time_limit_s: int | None = None
    time_limit_s: int | None = None

    @property
    def process_name(self) -> str:
        return self.process or self.name

    def worker_arguments(self) -> list[str]:
        """Of `celery worker`. Nothing is fetched that no thread is free for."""
        pool = "threads" if self.threads else "prefork"
        arguments = ["-Q", self.name, "-n", f"{self.name}@%h", "--pool", pool]
        arguments += ["-c", str(self.threads or 1), "--prefetch-multiplier", "1"]
        if self.soft_time_limit_s:
            arguments += ["--soft-time-limit", str(self.soft_time_limit_s)]
        if self.time_limit_s:
            arguments += ["--time-limit", str(self.time_limit_s)]
        return arguments


_ALL = (
    # One thread: it owns the connections to the clusters.
    Queue("sampling", ("monitoring.sampling.tasks.sample",), threads=1),
    # After 15 minutes a plan is void (console/actions/services.py).
    Queue("actions", ("console.actions.apply",), threads=4, expires_s=15 * 60),
    # A webhook has 10 s, and two threads at most (alerts/send.py).
    Queue(
        "deliveries",
        ("monitoring.alerts.tasks.deliver", "monitoring.alerts.tasks.send_due"),
        threads=16,
        expires_s=120,
    ),
    # History, and all that is tidied: also what the workers of other queues have left lying.
    Queue(
        "history",
        (
            "monitoring.history.tasks.flush",
            "monitoring.history.tasks.drop_old",
            "monitoring.alerts.tasks.drop_old",
            "monitoring.reports.requeue_lost_reports",
            "console.actions.expire_plans",
            "console.audit.drop_refused_sign_ins",
        ),
        threads=4,
    ),
    Queue(
        "spark",
        ("monitoring.reports.run",),
        process="spark-jobs",  # `spark` is the server
        soft_time_limit_s=15 * 60,
        time_limit_s=16 * 60,
    ),
)
QUEUES: dict[str, Queue] = {queue.name: queue for queue in _ALL}


def routes() -> dict[str, dict[str, str]]:
    """Celery's `task_routes`."""
    return {task: {"queue": queue.name} for queue in _ALL for task in queue.tasks}
