"""Who may read the plan of another user."""

import pytest
from django.utils import timezone

from console.accounts.rights import ADMIN, OPERATOR, VIEWER, Rights
from console.actions.models import Plan
from console.actions.plan_readers import may_read, scope_to_store
from monitoring.console_topics import NAMES
from monitoring.scope import EVERYTHING, Scope

OPERATORS = Scope(hidden_topics=NAMES)  # on the cluster with the console's own topics
TEAM = Scope(("orders*",), ("billing",), NAMES)


def a_plan(scope: Scope = EVERYTHING, action: str = "topic.delete", **params: object) -> Plan:
    return Plan(
        cluster="local", action=action, resource="orders", params=params, created_at=timezone.now(),
        scope=scope_to_store(scope, [params]),
    )  # fmt: skip


def rights(scope: Scope = EVERYTHING, role: str = OPERATOR) -> Rights:
    return Rights("local", role, scope)


def test_operators_read_the_plans_of_admins_that_do_not_name_hidden_topics():
    assert may_read(a_plan(), rights(OPERATORS))
    both = {"names": ["orders", "console.audit"]}
    assert not may_read(a_plan(action="topics.delete", **both), rights(OPERATORS))
    assert may_read(a_plan(action="topics.delete", **both), rights(role=ADMIN))
    of_group = a_plan(action="group.reset-offsets", offsets={"console.audit": {}})
    assert not may_read(of_group, rights(OPERATORS))


def test_a_scope_must_contain_the_scope_in_which_the_plan_was_made():
    """A review lists affected groups of its author's scope."""
    assert not may_read(a_plan(OPERATORS), rights(TEAM))
    assert may_read(a_plan(TEAM), rights(TEAM))
    assert may_read(a_plan(TEAM), rights(OPERATORS))
    other_groups = Scope(("orders*",), ("payers",), NAMES)
    assert not may_read(a_plan(TEAM), rights(other_groups))


def test_viewers_read_no_plan():
    assert not may_read(a_plan(), rights(role=VIEWER))


def test_a_plan_without_a_stored_scope_is_for_those_who_see_everything():
    plan = a_plan()
    plan.scope = {}
    assert may_read(plan, rights())
    assert not may_read(plan, rights(OPERATORS))


def test_the_target_must_be_visible_by_its_own_right():
    quotas = a_plan(action="quota.change")
    assert may_read(quotas, rights(role=ADMIN))
    assert not may_read(quotas, rights())


@pytest.mark.parametrize(("to_cluster", "is_read"), [("local", True), ("staging", False)])
def test_what_a_plan_names_of_another_cluster_is_for_admins(to_cluster, is_read):
    copy = a_plan(action="record.copy", cluster="local", to="copies", to_cluster=to_cluster)
    assert may_read(copy, rights()) is is_read
    assert may_read(copy, rights(role=ADMIN))
