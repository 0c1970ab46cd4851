"""A cluster to change: one in memory, since what plans do needs no broker.

The changes themselves are tried on a real one in test_on_a_real_cluster.py.
"""

from typing import Any

import pytest

from console.actions import plan_worker, services
from console.actions.models import Plan
from monitoring.models import Cluster
from tests.console.conftest import by
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)


@pytest.fixture
def cluster(db, redis_server, fake_cluster: FakeCluster) -> Cluster:  # noqa: F811
    return Cluster.objects.create(
        slug="local", name="Local", bootstrap_servers="127.0.0.1:1", holds_own_topics=True
    )


def confirm_and_run(plan: Plan, user: Any, typed: str | None = None) -> Plan:
    """The plan after its task; `typed`: in place of what the plan wants to be typed."""
    services.confirm(plan, by(user), plan.draft["typed_name"] if typed is None else typed)
    return _run(plan)


def resume_and_run(plan: Plan, user: Any) -> Plan:
    """A failed plan after the task that goes on with it."""
    services.resume(plan, by(user))
    return _run(plan)


def _run(plan: Plan) -> Plan:
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan
