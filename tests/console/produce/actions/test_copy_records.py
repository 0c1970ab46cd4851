"""A range of a topic copied to another one, on a cluster in memory."""

import dataclasses

import pytest

from console.accounts.principal import Principal
from console.accounts.services import grant
from console.actions import models, plan_worker
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.produce.actions import copy_records
from console.produce.copy_plans import RangesToCopy, limit_spans, propose_copy
from console.records.models import MaskingRule
from monitoring.error_reason import Reason, loads
from monitoring.gateway.errors import Unreadable
from monitoring.gateway.producing import WriteOutcome
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.console.conftest import a_user
from tests.console.produce.conftest import local

URL = "/c/local/topics/orders/copy"
CHOSEN = RangesToCopy("orders", "target")


@pytest.fixture
def filled(orders):
    orders.create_topic("target", 3)
    for partition, count in ((0, 10), (1, 4)):
        values = (b"%d-%d" % (partition, n) for n in range(count))
        orders.produce("orders", partition, *values, key=b"k")
    return orders


def planned(user, **changes) -> Plan:
    chosen = dataclasses.replace(CHOSEN, **changes)
    return propose_copy(Principal(user, ""), local(), chosen)


def copied(cluster, partition: int) -> list[bytes | None]:
    return [row.value for row in cluster.topics["target"].records[partition]]


def test_all_records_are_copied_with_key_and_time_and_audited(filled, operator):
    plan = planned(operator)
    filled.produce("orders", 0, b"later")
    done = confirm_and_run(plan, operator)
    assert (done.state, loads(done.outcome)) == (models.DONE, "")
    assert copied(filled, 0) == [b"0-%d" % n for n in range(10)], "not what was written later"
    assert copied(filled, 1) == [b"1-%d" % n for n in range(4)]
    assert filled.topics["target"].records[1] == filled.topics["orders"].records[1]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource) == ("record.copy", "orders")
    assert entry.after == {"to": "target", "spans": {"0": [0, 10], "1": [0, 4]}}
    assert "partition 1: 4 records, offsets 0 to 3" in loads(entry.detail)


def test_ranges_are_of_offsets_or_time_and_within_the_log(filled, operator):
    at_ms = filled.topics["orders"].records[0][3].timestamp_ms
    for changes, expected in (
        ({"ranges": {0: range(2, 4), 1: range(3, 99)}}, {"0": [2, 4], "1": [3, 4]}),
        ({"since_ms": at_ms}, {"0": [3, 10], "1": [3, 4]}),
        ({"until_ms": at_ms}, {"0": [0, 3], "1": [0, 3]}),
        ({"records_max": 6}, {"0": [0, 3], "1": [0, 3]}),
    ):
        assert planned(operator, **changes).params["spans"] == expected
    with pytest.raises(PlanRefused, match="no records to copy"):
        planned(operator, ranges={2: range(9)})
    with pytest.raises(PlanRefused, match="no partition 7"):
        planned(operator, ranges={7: range(9)})


def test_the_limit_is_shared_among_partitions():
    spans = {0: range(5, 105), 1: range(3), 2: range(50)}
    assert limit_spans(spans, 1000) == spans
    assert limit_spans(spans, 23) == {0: range(5, 15), 1: range(3), 2: range(10)}
    assert limit_spans(spans, 1) == {0: range(5, 6)}
    assert limit_spans({}, 5) == {}


def test_a_target_with_fewer_partitions_takes_them_by_key(filled, operator):
    filled.create_topic("target", 1)
    with pytest.raises(PlanRefused, match="has only 1 partitions"):
        planned(operator)
    assert confirm_and_run(planned(operator, keeps_partitions=False), operator).state == models.DONE
    assert len(copied(filled, 0)) == 14


def test_a_copy_that_stopped_is_resumed_and_copies_nothing_twice(filled, operator, monkeypatch):
    monkeypatch.setattr(copy_records, "_RECORDS_PER_CALL", 3)
    filled.refused_values[b"0-7"] = WriteOutcome(0, None, Reason("cluster_says", text="too large"))
    failed = confirm_and_run(planned(operator), operator)
    assert failed.state == models.FAILED
    assert loads(failed.outcome) == (
        "Partition 0 was copied to offset 7. A resumed plan goes on there. Records that it copies "
        "again: 0. Perhaps written: 0. too large. Acknowledged: partition 0: 7 records, offsets 0 "
        "to 6."
    )
    filled.refused_values.clear()
    assert resume_and_run(failed, operator).state == models.DONE
    assert copied(filled, 0) == [b"0-%d" % n for n in range(10)]
    assert copied(filled, 1) == [b"1-%d" % n for n in range(4)]


def test_a_process_that_died_says_what_may_be_copied_twice(filled, operator):
    filled.fails["copy"] = Unreadable(Reason("decoder_died", how="SIGKILL"))
    failed = confirm_and_run(planned(operator), operator)
    assert "Up to 2000 records from offset 0 on may have been copied" in loads(failed.outcome)


def test_a_masked_source_is_not_copied_also_if_the_rule_came_later(
    filled, operator, admin, client_of
):
    plan = planned(operator)
    MaskingRule.objects.create(cluster=local(), topic_pattern="orders", target="value.card")
    refused = confirm_and_run(plan, operator)
    assert refused.state == models.REFUSED
    assert "may not read all parts" in loads(refused.outcome)
    with pytest.raises(PlanRefused, match="may not read all parts"):
        planned(operator)
    page = client_of(operator).get(URL)
    assert page.status_code == 422
    assert "may not read all parts" in page.content.decode()
    assert copied(filled, 0) == []
    plan = planned(admin)
    assert "“target”: value.card. Whoever may read" in plan.draft["warnings"][0]
    assert plan.draft["after"]["uncovered"] == "value.card"
    assert confirm_and_run(plan, admin).state == models.DONE
    MaskingRule.objects.create(cluster=local(), topic_pattern="tar*", target="value.card")
    assert "uncovered" not in planned(admin).draft["after"]


def test_source_and_target_need_their_rights(filled, operator, viewer, admin):
    narrow = a_user("narrow", "operator", topics=["orders"])
    with pytest.raises(PlanRefused, match="does not include"):
        planned(narrow)
    other = a_user("other", "operator", topics=["target"])
    with pytest.raises(PlanRefused, match="may not read"):
        planned(other)
    with pytest.raises(PlanRefused, match="does not include"):
        planned(viewer)
    with pytest.raises(PlanRefused, match="Choose another topic"):
        planned(operator, to="orders")
    for to, why in (
        ("console.audit", "Only the console writes to it"),
        ("__consumer_offsets", r"internal topic of the cluster\. It cannot be changed"),
    ):
        with pytest.raises(PlanRefused, match=why):
            planned(admin, to=to)


def test_losing_the_right_to_the_source_refuses_the_plan(filled, operator):
    plan = planned(operator)
    plans.confirm(plan, Principal(operator, ""), "")
    operator.role_grants.all().delete()
    grant(operator, "operator", "", topics=["target"])
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    assert plan.state == models.REFUSED
    assert copied(filled, 0) == []


def test_the_form_leads_to_the_review_and_the_result_to_the_copies(filled, client_of, operator):
    browser = client_of(operator)
    posted = {
        "to": "target", "how": "offsets", "ranges": "0: 2-3\r\n1: 0-0", "most": "100",
        "keeps_partitions": "on",
    }  # fmt: skip
    answer = browser.post(URL, posted)
    assert answer.status_code == 302
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.params["spans"] == {"0": [2, 4], "1": [0, 1]}
    page = browser.get(answer.url).content.decode()
    assert 'href="/c/local/topics/target/messages?partition=0&amp;offset=0"' in page


@pytest.mark.parametrize(
    ("posted", "why"),
    [
        ({"to": ""}, "required"),
        ({"to": "a b"}, "Only letters"),
        ({"how": "offsets"}, "required"),
        ({"how": "offsets", "ranges": "0: 5-4"}, "such as 0: 100-199"),
        ({"how": "offsets", "ranges": "0: 1-2\n0: 3-4"}, "such as 0: 100-199"),
        ({"how": "time"}, "one of the times"),
        ({"how": "time", "since": "2026-01-02T00:00", "until": "2026-01-01T00:00"}, "later than"),
        ({"most": "0"}, "greater than"),
    ],
)
def test_bad_input_is_an_error_of_the_form(filled, client_of, operator, posted, why):
    answer = client_of(operator).post(URL, {"to": "target", "how": "all", "most": "10"} | posted)
    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_a_target_that_does_not_exist_is_said(filled, client_of, operator):
    posted = {"to": "absent", "how": "all", "most": "10"}
    answer = client_of(operator).post(URL, posted)
    assert answer.status_code == 404
    assert "could not be read" in answer.content.decode()
