"""When a plan that nobody confirmed expires, and when a queued or applied one counts as lost."""

from datetime import timedelta

from monitoring.background.queues import QUEUES

PROPOSED_AGE_MAX = timedelta(minutes=15)  # the cluster may have changed since the review
# Normally a worker starts within seconds. A plan that waited longer should be reviewed again.
QUEUED_AGE_MAX = timedelta(seconds=QUEUES["actions"].expires_s or 0)
# No change goes so long without progress (PlanProgress.save): the worker was killed.
WORKER_SILENT_MAX = timedelta(minutes=3)


def minutes(age: timedelta) -> int:
    """The age in whole minutes, for texts."""
    return int(age.total_seconds() // 60)


def is_expired(created_ms: int, now_ms: int) -> bool:
    """Whether a plan is too old to be confirmed."""
    return now_ms - created_ms > PROPOSED_AGE_MAX.total_seconds() * 1000
