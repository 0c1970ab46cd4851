"""Subjects that are over a limit but not long enough yet: one small JSON per cluster in Redis.

They may change with every tick, so they are kept out of the database. If Redis loses them, their
time starts again: later, never twice.
"""

import json
from collections.abc import Mapping

from monitoring import keys, redis_client
from monitoring.alerts.rules import Phase, Subject, SubjectState

Pending = dict[int, dict[Subject, SubjectState]]  # by rule id
_KEPT_S = 24 * 3600
_SUBJECTS_MAX = 100_000


def load(slug: str) -> Pending:
    """What is pending on the cluster. Raises StoreDown."""
    with redis_client.guarded() as client:
        found = client.get(keys.pending(slug))
    pending: Pending = {}
    for rule_id, group, topic, since_ms, seen_ms in json.loads(found) if found else ():
        standing = SubjectState(Phase.PENDING, since_ms, seen_ms)
        pending.setdefault(rule_id, {})[Subject(group, topic)] = standing
    return pending


def save(slug: str, pending: Mapping[int, Mapping[Subject, SubjectState]]) -> None:
    """Replace what is pending on the cluster. Raises StoreDown."""
    rows = [
        (rule_id, subject.group, subject.topic, standing.since_ms, standing.seen_ms)
        for rule_id, subjects in pending.items()
        for subject, standing in subjects.items()
    ]
    with redis_client.guarded() as client:
        if rows:
            client.set(keys.pending(slug), json.dumps(rows[:_SUBJECTS_MAX]), ex=_KEPT_S)
        else:
            client.delete(keys.pending(slug))
