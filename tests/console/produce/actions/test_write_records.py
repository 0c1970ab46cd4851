"""Records written by a plan: its review, its outcome, and where the contents are meanwhile."""

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone

from console.accounts.principal import Principal
from console.actions import models
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.produce import tasks
from console.produce.models import WaitingRecords
from console.ui import numbers
from monitoring.error_reason import Reason, loads
from monitoring.gateway.errors import ClusterUnavailable, Unreadable
from monitoring.gateway.producing import NewRecord, WriteOutcome
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.console.conftest import a_user
from tests.console.produce.conftest import local, planned

SECRET = b"s3cret-value"
UNKNOWN = WriteOutcome(0, None, Reason("record_unknown", why=Reason("timed_out")), True, True)
REFUSED = WriteOutcome(0, None, Reason("cluster_says", text="too large"))


def values(cluster, partition=0) -> list[bytes | None]:
    return [row.value for row in cluster.topics["orders"].records[partition]]


def test_a_record_is_written_as_reviewed(orders, operator):
    record = NewRecord(b"k", SECRET, (("h", b"1"),), 2, 1_700_000_000_000)
    plan = planned(operator, record)
    assert orders.topics["orders"].records[2] == [], "a plan changes nothing"
    done = confirm_and_run(plan, operator)
    assert (done.state, done.outcome) == (models.DONE, "")
    [row] = orders.topics["orders"].records[2]
    assert (row.key, row.value, row.headers) == (record.key, record.value, record.headers)
    assert row.timestamp_ms == 1_700_000_000_000


def test_plan_and_audit_have_sizes_and_a_hash_and_never_the_contents(orders, operator, caplog):
    plan = confirm_and_run(
        planned(operator, NewRecord(b"s3cret-key", SECRET, (("s3cret-h", b"s3cret"),), 0)), operator
    )
    entry = AuditEntry.objects.get()
    stored = Plan.objects.filter(pk=plan.pk).values().get()
    audited = AuditEntry.objects.filter(pk=entry.pk).values().get()
    assert "s3cret" not in f"{stored}{audited}{caplog.text}"
    assert hashlib.sha256(SECRET).hexdigest() in str(plan.draft)
    assert entry.after == {
        "count": 1, "size_bytes": 36, "sha256": hashlib.sha256(SECRET).hexdigest(),
        "compression": "none",
    }  # fmt: skip
    assert loads(entry.detail).startswith(
        "Acknowledged: partition 0: 1 records, offsets 0 to 0. Planned from"
    )


def test_the_contents_wait_encrypted_and_are_deleted_at_the_end(orders, operator):
    plan = planned(operator, NewRecord(None, SECRET, (), 0))
    row = WaitingRecords.objects.get()
    assert row.encrypted
    assert "s3cret" not in row.encrypted
    confirm_and_run(plan, operator)
    row.refresh_from_db()
    assert row.encrypted == ""
    assert row.written == {"0": [0, 0, 1]}


def test_contents_that_nobody_wrote_are_deleted_after_an_hour(orders, operator):
    plan = planned(operator, NewRecord(None, SECRET, (), 0))
    tasks.delete_old_contents()
    assert WaitingRecords.objects.get().encrypted
    WaitingRecords.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    tasks.delete_old_contents()
    assert WaitingRecords.objects.get().encrypted == ""
    failed = confirm_and_run(plan, operator)
    assert failed.state == models.FAILED
    assert "kept for one hour" in loads(failed.outcome)
    WaitingRecords.objects.update(created_at=timezone.now() - timedelta(days=92))
    tasks.delete_old_contents()
    assert not WaitingRecords.objects.exists()


def test_one_record_is_written_several_times(orders, operator):
    plan = confirm_and_run(planned(operator, NewRecord(b"k", b"v", (), 1), times=1200), operator)
    assert plan.state == models.DONE
    assert values(orders, 1) == [b"v"] * 1200
    assert plan.draft["figures"][0]["value"] == numbers.count(1200)


def test_a_refused_record_stops_the_plan_which_says_what_was_written(orders, operator):
    orders.refused_values[b"2"] = REFUSED
    records = [NewRecord(None, b"%d" % number, (), 0) for number in range(4)]
    failed = confirm_and_run(planned(operator, *records), operator)
    assert failed.state == models.FAILED
    text = loads(failed.outcome)
    assert text.startswith(
        "3 of 4 records were acknowledged. Without an acknowledgement, but perhaps written: 0. "
        "Not sent, or refused: 1. too large."
    )
    assert "partition 0: 3 records, offsets 0 to 2" in text
    assert failed.applied_items == {"1", "2", "4"}
    orders.refused_values.clear()
    done = resume_and_run(failed, operator)
    assert done.state == models.DONE
    assert values(orders) == [b"0", b"1", b"3", b"2"], "no record twice"


def test_the_page_of_a_plan_lists_only_the_records_that_failed(orders, client_of, operator):
    orders.refused_values[b"2"] = REFUSED
    records = [NewRecord(None, b"%d" % number, (), 0) for number in range(900)]
    failed = confirm_and_run(planned(operator, *records), operator)
    page = client_of(operator).get(f"/c/local/plans/{failed.pk}").content.decode()
    assert page.count("<tr><td") == 1
    assert "55.4\u202f% done" in page
    assert "Resume what is not done" in page


def test_an_unknown_outcome_is_said_and_nothing_is_sent_after_it(orders, operator):
    orders.refused_values[b"0"] = UNKNOWN
    records = [NewRecord(None, b"%d" % (number % 600), (), 0) for number in range(700)]
    failed = confirm_and_run(planned(operator, *records), operator)
    assert orders.calls.count("write") == 1
    assert "perhaps written: 1. Not sent, or refused: 200." in loads(failed.outcome)
    assert len(values(orders)) == 499


def test_a_process_that_died_leaves_all_its_records_unknown(orders, operator):
    orders.fails["write"] = Unreadable(Reason("decoder_died", how="SIGKILL"))
    failed = confirm_and_run(planned(operator, NewRecord(None, b"1", (), 0), times=3), operator)
    assert "perhaps written: 3. Not sent, or refused: 0." in loads(failed.outcome)


def test_a_cluster_that_is_down_gets_nothing(orders, operator):
    plan = planned(operator, NewRecord(None, b"1", (), 0))
    orders.fails["write"] = ClusterUnavailable("no broker answers")
    failed = confirm_and_run(plan, operator)
    assert loads(failed.outcome) == "no broker answers"
    orders.fails.clear()
    assert resume_and_run(failed, operator).state == models.DONE


def test_a_group_of_records_that_failed_in_part_is_resumed_without_writing_twice(orders, operator):
    orders.refused_values[b"7"] = REFUSED
    records = [NewRecord(None, b"%d" % number, (), 0) for number in range(2000)]
    failed = confirm_and_run(planned(operator, *records), operator)
    orders.refused_values.clear()
    assert resume_and_run(failed, operator).state == models.DONE
    assert sorted(values(orders), key=int) == [b"%d" % number for number in range(2000)]


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("__consumer_offsets", r"internal topic of the cluster\. It cannot be changed"),
        ("brokerd.events", "Only brokers write to it"),
        ("console.audit", "Only the console writes to it"),
    ],
)
def test_internal_topics_and_logs_of_the_console_are_refused_also_to_admins(
    orders, admin, topic, why
):
    orders.create_topic(topic)
    with pytest.raises(PlanRefused, match=why):
        planned(admin, NewRecord(None, b"1"), topic=topic)


def test_viewers_other_scopes_and_read_only_clusters_are_refused(orders, viewer, operator):
    narrow = a_user("narrow", "operator", topics=["shop.*"])
    for user in (viewer, narrow):
        with pytest.raises(PlanRefused, match="does not include"):
            planned(user, NewRecord(None, b"1"))
    type(local()).objects.update(read_only=True)
    with pytest.raises(PlanRefused, match="read-only"):
        planned(operator, NewRecord(None, b"1"))
    assert not WaitingRecords.objects.exists()


def test_limits_are_said(orders, operator):
    with pytest.raises(PlanRefused, match="at most 5"):
        planned(operator, NewRecord(None, b"1"), times=5001)
    with pytest.raises(PlanRefused, match="at most 1"):
        planned(operator, NewRecord(None, b"x" * 1000), times=2000)
    with pytest.raises(PlanRefused, match=r"no partition 3\. The topic has 3"):
        planned(operator, NewRecord(None, b"1", (), 3))


def test_a_compacted_topic_needs_keys(orders, operator):
    orders.topics["orders"].configs["cleanup.policy"] = "compact"
    with pytest.raises(PlanRefused, match="every record needs a key, and 1 have none"):
        planned(operator, NewRecord(None, b"1"), NewRecord(b"k", b"1"))
    assert planned(operator, NewRecord(b"k", None)).draft["warnings"]


def test_a_topic_that_changed_since_the_review_gets_nothing(orders, operator):
    plan = planned(operator, NewRecord(b"k", b"1"))
    orders.add_partitions(orders.topics["orders"], 4, 1)
    refused = confirm_and_run(plan, operator)
    assert refused.state == models.REFUSED
    assert "changed since the review" in loads(refused.outcome)


def test_it_cannot_be_undone_and_says_where_records_can_be_deleted(orders, operator):
    plan = planned(operator, NewRecord(b"k", None))
    assert "an admin can purge" in plan.draft["warnings"][0]
    assert "deletes nothing there" in plan.draft["warnings"][1]
    done = confirm_and_run(plan, operator)
    assert plans.undo_proposal(done, Principal(operator, ""), local()) is None
