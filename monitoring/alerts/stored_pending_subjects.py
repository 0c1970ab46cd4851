"""Stores the pending subjects (over the threshold, but not long enough yet) as JSON in Redis.

They can change with every tick, so they are not in the database. If Redis loses them, their time
starts again; then an alert fires later, but never twice.
"""

import json
from collections.abc import Mapping

from monitoring import redis_client, redis_keys
from monitoring.alerts.lag_condition import Subject
from monitoring.alerts.state_machine import Phase, SubjectState

Pending = dict[int, dict[Subject, SubjectState]]  # by rule id
_KEPT_S = 24 * 3600
_SUBJECTS_MAX = 100_000


def load(slug: str) -> Pending:
    """The pending subjects of the cluster. Raises RedisDown."""
    with redis_client.guarded() as client:
        stored = client.get(redis_keys.pending(slug))
    pending: Pending = {}
    for rule_id, group, topic, since_ms, last_over_ms in json.loads(stored) if stored else ():
        state = SubjectState(Phase.PENDING, since_ms, last_over_ms)
        pending.setdefault(rule_id, {})[Subject(group, topic)] = state
    return pending


def save(slug: str, pending: Mapping[int, Mapping[Subject, SubjectState]]) -> None:
    """Replace the pending subjects of the cluster. Raises RedisDown."""
    rows = [
        (rule_id, subject.group, subject.topic, state.since_ms, state.last_over_ms)
        for rule_id, subjects in pending.items()
        for subject, state in subjects.items()
    ]
    with redis_client.guarded() as client:
        if rows:
            client.set(redis_keys.pending(slug), json.dumps(rows[:_SUBJECTS_MAX]), ex=_KEPT_S)
        else:
            client.delete(redis_keys.pending(slug))
