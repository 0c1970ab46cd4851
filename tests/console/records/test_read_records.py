"""The one door through which records leave, on a real cluster."""

import uuid

import pytest
from django.core.exceptions import PermissionDenied

from console.accounts.rights import only_admins_read
from console.accounts.services import grant
from console.audit.models import AuditEntry
from console.records.masking_rules import copy_masking_rules
from console.records.models import MaskingRule, ShownTo
from console.records.read_records import RecordQuery, read, read_row
from console.records.shown_record import MASKED
from monitoring.clusters import kafka_cluster_id
from monitoring.gateway.errors import NotFound, OffsetOutOfRange
from monitoring.gateway.record_pages import LIMIT_MAX
from monitoring.models import Cluster
from monitoring.records.mask_record import MASK_BYTES
from stack.demo.topics import BROKERD_EVENTS
from tests.console.conftest import a_user, by
from tests.support.live_cluster import LiveCluster

VALUE = b'{"card": "4111", "who": {"name": "Ada"}}'


@pytest.fixture
def local(db, redis_server, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row


@pytest.fixture
def topic(live_cluster: LiveCluster) -> str:
    """A topic with one record in partition 0 and three in partition 1."""
    name = f"read-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(name)
    record = {"value": VALUE, "key": b"alice", "headers": {"token": b"t0p"}}
    live_cluster.write(name, (record | {"partition": partition} for partition in (0, 1, 1, 1)))
    return name


def cover(
    cluster: Cluster, *targets: str, pattern: str = "read-*", shown_to: str = ShownTo.ADMINS
) -> None:
    for target in targets:
        MaskingRule.objects.create(
            cluster=cluster, topic_pattern=pattern, target=target, shown_to=shown_to
        )


def test_records_are_read_newest_first_and_decoded(local, topic, viewer):
    records = read(by(viewer), local, RecordQuery(topic, partition=1)).records
    assert [record.offset for record in records] == [2, 1, 0]
    assert records[0].key.text == "alice"
    assert records[0].value.kind == "json"
    assert len(read(by(viewer), local, RecordQuery(topic)).records) == 4
    [second] = read(by(viewer), local, RecordQuery(topic, 1, 1, 1)).records
    assert second.offset == 1


def test_a_query_returns_at_most_its_limit(local, topic, viewer, live_cluster):
    live_cluster.produce(topic, {0: LIMIT_MAX + 10})
    assert (
        len(read(by(viewer), local, RecordQuery(topic, 0, limit=10 * LIMIT_MAX)).records)
        == LIMIT_MAX
    )


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_rules_mask_records_for_all_but_admins(local, topic, role, request, admin):
    cover(local, "key", "value.who.name", "headers.TOKEN")
    [shown, *_] = read(by(request.getfixturevalue(role)), local, RecordQuery(topic, 0)).records
    assert shown.key == MASKED
    assert "Ada" not in shown.value.text
    assert "Ada" not in shown.value.preview
    assert "4111" in shown.value.text
    assert shown.headers[0][1] == MASKED
    [whole] = read(by(admin), local, RecordQuery(topic, 0)).records
    assert (whole.key.text, whole.headers[0][1].text) == ("alice", "t0p")


def test_a_whole_record_is_masked_and_not_truncated(
    local, topic, viewer, admin, outsider, live_cluster
):
    large = b"x" * 500_000
    live_cluster.write(topic, [{"value": large, "key": b"alice", "partition": 0}])
    assert read_row(by(viewer), local, topic, 0, 1).value == large
    cover(local, "key", "value.who.name")
    shown = read_row(by(viewer), local, topic, 0, 0)
    assert (shown.key, b"Ada" in shown.value) == (MASK_BYTES, False)
    assert read_row(by(admin), local, topic, 0, 0).value == VALUE
    with pytest.raises(PermissionDenied):
        read_row(by(outsider), local, topic, 0, 0)
    with pytest.raises(NotFound, match="no record of offset 2"):
        read_row(by(viewer), local, topic, 0, 2)
    with pytest.raises(OffsetOutOfRange):
        read_row(by(viewer), local, topic, 0, 9)


def test_records_before_an_offset_are_paged(local, topic, viewer):
    found = read(by(viewer), local, RecordQuery(topic, 1, limit=1, before_offset=2))
    assert [record.offset for record in found.records] == [1]
    assert (found.partition, found.older_before, found.newer_offset) == (1, 1, 2)


def test_rules_of_other_topics_and_clusters_mask_nothing(local, topic, viewer):
    cover(local, "key", pattern="other-*")
    cover(Cluster.objects.create(slug="staging", bootstrap_servers="127.0.0.1:1"), "key")
    [shown] = read(by(viewer), local, RecordQuery(topic, 0)).records
    assert shown.key.text == "alice"


def test_sizes_are_rounded_for_users_who_see_masked_records(
    local, topic, viewer, admin, live_cluster
):
    values = (b'{"card": "%s"}' % card for card in (b"yes", b"no, and never was"))
    live_cluster.write(
        topic, ({"value": value, "key": b"k" * 9, "partition": 0} for value in values)
    )
    cover(local, "value.card")
    told = [
        (record.key.size_bytes, record.value.size_bytes)
        for record in read(by(viewer), local, RecordQuery(topic, 0, 1)).records
    ]
    assert told == [(8, 16), (8, 32)]
    whole = read(by(admin), local, RecordQuery(topic, 0, 1)).records
    assert [record.value.size_bytes for record in whole] == [15, 29]
    assert not whole[0].value.is_size_rounded


@pytest.mark.parametrize(
    ("shown_to", "role", "is_masked"),
    [
        (ShownTo.OPERATORS, "viewer", True),
        (ShownTo.OPERATORS, "operator", False),
        (ShownTo.OPERATORS, "admin", False),
        (ShownTo.ADMINS, "operator", True),
        (ShownTo.NOBODY, "admin", True),
    ],
)
def test_a_rule_says_who_sees_the_data(local, topic, shown_to, role, is_masked):
    cover(local, "key", shown_to=shown_to)
    [shown] = read(by(a_user("reader", role)), local, RecordQuery(topic, 0)).records
    assert (shown.key == MASKED) == is_masked


def test_of_two_rules_for_one_part_the_stricter_one_applies(local, topic, operator):
    cover(local, "key", shown_to=ShownTo.OPERATORS)
    cover(local, "key", pattern="read*", shown_to=ShownTo.ADMINS)
    [shown] = read(by(operator), local, RecordQuery(topic, 0)).records
    assert shown.key == MASKED


def test_reading_unmasked_records_is_audited(local, topic, admin, viewer):
    read(by(admin, "10.0.0.9"), local, RecordQuery(topic, 1))
    assert not AuditEntry.objects.exists(), "no rule masks anything of it"
    cover(local, "key", "headers.token")
    read(by(viewer, "10.0.0.8"), local, RecordQuery(topic, 1))
    with pytest.raises(OffsetOutOfRange):
        read(by(admin, "10.0.0.9"), local, RecordQuery(topic, 1, 99))
    assert not AuditEntry.objects.exists(), "nothing was uncovered"
    read(by(admin, "10.0.0.9"), local, RecordQuery(topic, 1, 1))
    read_row(by(admin, "10.0.0.9"), local, topic, 0, 0)
    download, page = AuditEntry.objects.all()
    for entry in (page, download):
        assert (entry.action, entry.cluster, entry.resource) == ("record.unmask", "local", topic)
        assert (entry.actor_name, entry.remote_addr) == ("admin", "10.0.0.9")
    uncovered = {"uncovered": "headers.token, key"}
    assert page.after == uncovered | {"partition 1": "offsets 1 to 2, 2 records"}
    assert download.after == uncovered | {"partition 0": "offsets 0 to 0, 1 records"}


def test_rules_apply_to_every_entry_of_the_same_cluster(local, topic, live_cluster):
    cover(local, "key")
    kafka_cluster_id.record(local, live_cluster.gateway().wire.cluster_id())
    second = live_cluster.row("second")
    second.save()
    both = a_user("both", "viewer")
    [shown] = read(by(both), second, RecordQuery(topic, 0)).records
    assert shown.key == MASKED
    grant(both, "admin", "second")
    [shown] = read(by(both), second, RecordQuery(topic, 0)).records
    assert shown.key == MASKED, "who may lift a rule is asked where it was made"
    grant(both, "admin", "local")
    [shown] = read(by(both), second, RecordQuery(topic, 0)).records
    assert shown.key.text == "alice"


def test_rules_are_copied_when_an_entry_of_the_cluster_is_removed(
    local, topic, live_cluster, viewer
):
    second = live_cluster.row("second")
    second.save()
    for entry in (local, second):
        kafka_cluster_id.record(entry, live_cluster.gateway().wire.cluster_id())
    cover(local, "key", shown_to=ShownTo.NOBODY)
    cover(second, "key")
    cover(local, "headers.token")
    copy_masking_rules(local)
    local.delete()
    [shown] = read(by(viewer), second, RecordQuery(topic, 0)).records
    assert (shown.key, shown.headers[0][1]) == (MASKED, MASKED)
    assert MaskingRule.objects.count() == 2
    assert MaskingRule.objects.get(target="key").shown_to == ShownTo.NOBODY


@pytest.mark.parametrize("role", ["viewer", "operator"])
@pytest.mark.parametrize("name", ["__consumer_offsets", "brokerd.events"])
def test_a_topic_without_read_right_is_refused_before_reading(clusters, request, role, name):
    with pytest.raises(PermissionDenied):  # not ClusterUnavailable: nobody was asked
        read(by(request.getfixturevalue(role)), clusters[0], RecordQuery(name))


@pytest.mark.parametrize("name", ["payments", "console.audit"])
def test_a_topic_outside_the_scope_is_not_found_and_no_broker_is_queried(clusters, name):
    scoped = a_user("scoped", "operator", topics=["orders", "console.*"])
    with pytest.raises(NotFound):
        read(by(scoped), clusters[0], RecordQuery(name))


def test_only_admins_read_the_brokers_events():
    assert only_admins_read("record.read", BROKERD_EVENTS)


def test_a_user_without_a_role_reads_nothing(local, topic, outsider):
    with pytest.raises(PermissionDenied):
        read(by(outsider), local, RecordQuery(topic))


def test_missing_records_and_partitions_are_reported(local, topic, viewer):
    with pytest.raises(NotFound):
        read(by(viewer), local, RecordQuery("no-such-topic"))
    with pytest.raises(OffsetOutOfRange, match="0 to 2"):
        read(by(viewer), local, RecordQuery(topic, 1, 99))
