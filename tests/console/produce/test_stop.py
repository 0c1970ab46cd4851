"""A plan that writes records is stopped between two calls, and says how far it came."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_worker, stop_plan
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.produce.actions import copy_records
from console.produce.actions.mock_records import MockSpec
from console.produce.copy_plans import RangesToCopy, propose_copy
from console.produce.mock_plans import MockRecordsToWrite, propose_mock
from monitoring.error_reason import loads
from monitoring.gateway.producing import NewRecord
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.console.produce.conftest import local, planned
from tests.support.fake_gateway import FakeCluster

RECORDS = [NewRecord(None, b"%d" % number, (), 0) for number in range(1200)]


def stopped_after(cluster: FakeCluster, monkeypatch, plan: Plan, user, calls: int, call="write"):
    """The plan, confirmed and run; the user stops it during this call."""
    producing = type(cluster.gateway().producing)
    write = getattr(producing, call)

    def stops_it(self, *args):
        if cluster.calls.count(call) == calls - 1:
            assert stop_plan.stop(Plan.objects.get(), Principal(user, "10.0.0.9"))
        return write(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(producing, call, stops_it)
        return confirm_and_run(plan, user)


def values(cluster: FakeCluster) -> list[bytes | None]:
    return [row.value for row in cluster.topics["orders"].records[0]]


def test_a_stopped_plan_says_what_it_wrote_and_is_audited(orders, operator, monkeypatch):
    plan = stopped_after(orders, monkeypatch, planned(operator, *RECORDS), operator, 2)
    assert plan.state == models.FAILED
    assert plan.is_stopped
    number = len(values(orders))
    assert 0 < number < 1200
    assert loads(plan.outcome) == (
        f"Stopped by {operator} from 10.0.0.9. {number} of 1200 records were written. "
        f"Acknowledged: partition 0: {number} records, offsets 0 to {number - 1}."
    )
    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.actor) == ("stopped", operator)
    assert f"{number} of 1200 records" in loads(entry.detail)


def test_a_resumed_plan_writes_the_rest_once_and_is_no_longer_stopped(
    orders, operator, monkeypatch
):
    plan = stopped_after(orders, monkeypatch, planned(operator, *RECORDS), operator, 1)
    done = resume_and_run(plan, operator)
    assert (done.state, done.stopped_by) == (models.DONE, "")
    assert values(orders) == [record.value for record in RECORDS]


def test_mock_records_with_a_rate_are_stopped(orders, operator, monkeypatch):
    spec = MockSpec({"id": 1}, False, 1, 0, partition=0)
    wanted = MockRecordsToWrite("orders", spec, 40, 40)
    plan = propose_mock(Principal(operator, ""), local(), wanted)
    stopped = stopped_after(orders, monkeypatch, plan, operator, 1)
    assert stopped.is_stopped
    assert len(values(orders)) == 20


def test_a_copy_is_stopped_within_a_partition_and_resumed_there(orders, operator, monkeypatch):
    monkeypatch.setattr(copy_records, "_RECORDS_PER_CALL", 3)
    orders.create_topic("target", 3)
    orders.produce("orders", 0, *(b"%d" % number for number in range(10)))
    plan = propose_copy(Principal(operator, ""), local(), RangesToCopy("orders", "target"))
    stopped = stopped_after(orders, monkeypatch, plan, operator, 2, "copy")
    assert "6 of 10 records were written" in loads(stopped.outcome)
    assert "Partition 0 of the source was copied to offset 6." in loads(stopped.outcome)
    assert resume_and_run(stopped, operator).state == models.DONE
    assert [row.value for row in orders.topics["target"].records[0]] == values(orders)


def test_a_copy_that_is_stopped_at_the_end_of_a_partition_begins_no_other(
    orders, operator, monkeypatch
):
    orders.create_topic("target", 3)
    for partition in (0, 1):
        orders.produce("orders", partition, b"x")
    plan = propose_copy(Principal(operator, ""), local(), RangesToCopy("orders", "target"))
    stopped = stopped_after(orders, monkeypatch, plan, operator, 1, "copy")
    assert stopped.is_stopped
    assert orders.calls.count("copy") == 1


def test_a_plan_that_no_worker_has_begun_ends_at_once(orders, operator):
    plan = planned(operator, *RECORDS)
    plans.confirm(plan, Principal(operator, ""), "")
    assert stop_plan.stop(plan, Principal(operator, ""))
    plan.refresh_from_db()
    assert plan.is_stopped
    assert "No record was written." in loads(plan.outcome)
    plan_worker.apply_queued(str(plan.pk))
    assert values(orders) == []


def test_a_second_click_and_a_stop_after_the_end_change_nothing(orders, operator, client_of):
    plan = planned(operator, RECORDS[0])
    url = reverse("plan-stop", args=["local", plan.pk])
    plans.confirm(plan, Principal(operator, ""), "")
    plan.change_state(models.QUEUED, models.APPLYING)
    browser = client_of(operator)
    page = browser.get(reverse("plan", args=["local", plan.pk])).content.decode()
    assert url in page
    for _click in range(2):
        page = browser.post(url, follow=True).content.decode()
        assert "Stopping: the write in progress is finished first" in page
        assert url not in page
    plan.change_state(models.APPLYING, models.DONE, stopped_by="")
    assert "the plan had ended" in browser.post(url, follow=True).content.decode()
    plan.refresh_from_db()
    assert plan.state == models.DONE


def test_the_last_call_ends_a_plan_as_done_though_a_stop_came_in_it(orders, operator, monkeypatch):
    plan = stopped_after(orders, monkeypatch, planned(operator, RECORDS[0]), operator, 1)
    assert (plan.state, plan.is_stopped, plan.stopped_by) == (models.DONE, False, "")
    assert AuditEntry.objects.get().outcome == "ok"


def test_only_who_may_apply_a_plan_stops_it_also_on_a_cluster_that_became_read_only(
    orders, operator, viewer, admin, client_of
):
    plan = planned(operator, RECORDS[0])
    plans.confirm(plan, Principal(operator, ""), "")
    with pytest.raises(PlanRefused, match="does not include"):
        stop_plan.stop(plan, Principal(viewer, ""))
    url = reverse("plan-stop", args=["local", plan.pk])
    assert client_of(admin).post(url).status_code == 404, "another user's plan"
    type(local()).objects.update(read_only=True)
    assert stop_plan.stop(plan, Principal(operator, ""))


def test_a_worker_whose_plan_was_ended_as_lost_writes_no_more(orders, operator, monkeypatch):
    producing = type(orders.gateway().producing)
    write = producing.write

    def ends(self, *args):
        Plan.objects.update(state=models.FAILED)
        return write(self, *args)

    monkeypatch.setattr(producing, "write", ends)
    plan = confirm_and_run(planned(operator, *RECORDS), operator)
    assert orders.calls.count("write") == 1
    assert not plan.is_stopped
    assert not AuditEntry.objects.exists()
