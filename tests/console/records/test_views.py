"""The pages of records and of masking, and what they say where nothing can be read."""

import json

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from console.records import read_records
from console.records.models import MaskingRule
from console.records.read_records import ReadResult
from console.records.shown_data import decode
from console.records.shown_record import ShownRecord
from monitoring.clusters import kafka_cluster_id
from monitoring.gateway.errors import ClusterUnavailable, NotFound, OffsetOutOfRange, Refused
from monitoring.gateway.record_pages import NO_LEADER, TOO_MUCH, UnreadPartition
from monitoring.gateway.record_row import RecordRow
from tests.console.conftest import BROKERS, PARTITIONS, sample_next

BROWSE = "/c/local/topics/orders/messages"
MASKING = "/c/local/masking"
RULE = {"topic_pattern": "orders*", "target": "value.card", "shown_to": "operator"}


@pytest.fixture
def asked(monkeypatch):
    """The queries that reach the door; each is answered with one record."""
    queries = []

    def read(principal, cluster, query):
        queries.append(query)
        value = decode(b'{"text": "<script>alert(1)</script>"}')
        headers = (("h", decode(None)),)
        record = ShownRecord(1, 41, 1_760_000_000_000, decode(b"k"), value, headers)
        return ReadResult([record], partition=1, older_before=16, newer_offset=42)

    monkeypatch.setattr(read_records, "read", read)
    return queries


def test_the_newest_records_are_read_by_default(sampled, client_of, viewer, asked):
    page = client_of(viewer).get(BROWSE).content.decode()
    assert asked == [read_records.RecordQuery("orders", None, None, 25)]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_door_is_distinguished_from_where_records_are_read(
    sampled, client_of, admin, monkeypatch
):
    told = []

    def read(*asked):
        told.append(asked[0].address)
        raise NotFound("nothing")

    for name in ("read", "read_row"):
        monkeypatch.setattr(read_records, name, read)
    for url in (BROWSE, f"{BROWSE}/1/41/value"):
        client_of(admin).get(url, REMOTE_ADDR="10.0.0.9")
    assert told == ["10.0.0.9", "10.0.0.9"]


def test_a_partition_and_an_offset_lead_to_older_and_newer_ones(sampled, client_of, viewer, asked):
    page = client_of(viewer).get(f"{BROWSE}?partition=1&offset=41&limit=25").content.decode()
    assert asked == [read_records.RecordQuery("orders", 1, 41, 25)]
    assert "?partition=1&amp;before=16&amp;limit=25" in page
    assert "?partition=1&amp;offset=42&amp;limit=25" in page
    client_of(viewer).get(f"{BROWSE}?partition=1&before=16&limit=25")
    assert asked[1] == read_records.RecordQuery("orders", 1, None, 25, before_offset=16)


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("key=auto", "field=key&operator=equals&text=auto&order=newest"),
        ("key=k%201&since=", "field=key&operator=equals&text=k+1&order=newest"),
        ("since=2026-01-02T03:04:05&limit=50", "since=2026-01-02T03%3A04%3A05&order=oldest"),
        (
            "key=k&since=2026-01-02T03:04&partition=1&value_as=hex",
            "partition=1&since=2026-01-02T03%3A04&field=key&operator=equals&text=k"
            "&order=oldest&value_as=hex",
        ),
    ],
)
def test_by_key_or_time_it_goes_on_to_the_search(
    sampled, client_of, viewer, asked, query, searched
):
    answer = client_of(viewer).get(f"{BROWSE}?{query}")
    assert (answer.status_code, answer.url) == (302, f"{BROWSE}/search?{searched}")
    assert client_of(viewer).get(answer.url).context["form"].is_valid()
    assert asked == []


def test_without_records_within_the_limits_the_page_links_to_older_ones(
    sampled, client_of, viewer, monkeypatch
):
    shown = ReadResult([], (UnreadPartition(1, TOO_MUCH),), partition=1, older_before=7)
    monkeypatch.setattr(read_records, "read", lambda *_: shown)
    answer = client_of(viewer).get(f"{BROWSE}?partition=1&before=9000")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Partition 1 was only partly read" in page
    assert "?partition=1&amp;before=7&amp;limit=25" in page
    assert "No records here" not in page


def test_before_the_first_record_the_page_says_that_this_is_the_start(
    sampled, client_of, viewer, monkeypatch
):
    monkeypatch.setattr(read_records, "read", lambda *_: ReadResult([], (), 1))
    page = client_of(viewer).get(f"{BROWSE}?partition=1&before=4").content.decode()
    assert "This is the start of the partition" in page


@pytest.fixture
def one(monkeypatch):
    """The record that every download finds, changed by tests."""
    found = [RecordRow(1, 41, 1_760_000_000_000, b"\xff", b'{"a": "\xc3\xb6"}', (("h", None),))]
    monkeypatch.setattr(read_records, "read_row", lambda *_: found[0])
    return found


def test_a_download_is_the_value_byte_for_byte_or_all_of_the_record(
    sampled, client_of, viewer, one
):
    answer = client_of(viewer).get(f"{BROWSE}/1/41/value")
    assert answer.content == one[0].value
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="orders-1-41.value"'
    answer = client_of(viewer).get(f"{BROWSE}/1/41/record")
    assert json.loads(answer.content) == {
        "topic": "orders", "partition": 1, "offset": 41, "timestamp_ms": 1_760_000_000_000,
        "key": {"base64": "/w=="}, "value": {"text": '{"a": "ö"}'},
        "headers": [{"name": "h", "value": None}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["1/41/key", f"{2**31}/41/value", f"1/{2**63}/value", "1/41/..", f"{'9' * 5000}/1/value"],
)
def test_an_unknown_download_is_404(sampled, client_of, viewer, one, path):
    assert client_of(viewer).get(f"{BROWSE}/{path}").status_code == 404


def test_a_null_value_cannot_be_downloaded(sampled, client_of, viewer, one):
    one[0] = one[0]._replace(value=None)
    assert client_of(viewer).get(f"{BROWSE}/1/41/value").status_code == 404
    assert client_of(viewer).get(f"{BROWSE}/1/41/record").status_code == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("it was deleted"), 404),
        (OffsetOutOfRange("it was deleted"), 404),
        (ClusterUnavailable("no broker answers"), 503),
        (Refused("the brokers refuse it"), 422),
    ],
)
def test_a_download_that_cannot_be_read_says_why(
    sampled, client_of, viewer, monkeypatch, error, status
):
    def failing(*_):
        raise error

    monkeypatch.setattr(read_records, "read_row", failing)
    answer = client_of(viewer).get(f"{BROWSE}/1/41/value")
    assert answer.status_code == status
    assert error.message[1:] in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("offset=3", "Choose the partition"),
        ("before=3", "Choose the partition"),
        ("partition=1&offset=3&before=3", "not both"),
        ("partition=7", "partitions 0 to 1"),
        ("partition=1&offset=-1", "greater than or equal to 0"),
        ("partition=1&offset=99999999999999999999", "less than or equal to"),
        ("limit=1000000", "valid choice"),
        ("partition=x", "whole number"),
    ],
)
def test_an_invalid_query_is_reported_at_its_field(sampled, client_of, viewer, asked, query, told):
    answer = client_of(viewer).get(f"{BROWSE}?{query}")
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert asked == []


def test_a_search_in_an_unknown_partition_is_reported_at_its_field(sampled, client_of, viewer):
    answer = client_of(viewer).get(f"{BROWSE}/search?text=a&partition=77")
    assert answer.status_code == 422
    assert "This topic has partitions 0 to 1." in answer.content.decode()


def test_an_offset_outside_of_the_partition_is_reported_at_its_field(
    sampled, client_of, viewer, monkeypatch
):
    def outside(*_):
        raise OffsetOutOfRange("partition 1 of orders holds offsets 40 to 99")

    monkeypatch.setattr(read_records, "read", outside)
    answer = client_of(viewer).get(f"{BROWSE}?partition=1&offset=5")
    assert answer.status_code == 422
    assert "Partition 1 of orders holds offsets 40 to 99." in answer.content.decode()


@pytest.mark.parametrize("topic", ["nothing", "console.audit", "console.nothing"])
def test_missing_and_hidden_topics_get_the_same_response(sampled, client_of, viewer, topic):
    answer = client_of(viewer).get(f"/c/local/topics/{topic}/messages")
    assert answer.status_code == 404
    assert f"There is no topic “{topic}”." in answer.content.decode()


def test_partitions_that_could_not_be_read_are_named_above_the_records(
    sampled, client_of, viewer, monkeypatch
):
    lost = {"leader": -1, "replicas": [2], "isr": [2]}
    sample_next(
        partitions=[PARTITIONS[0], PARTITIONS[1] | lost],
        brokers=[*BROKERS, {"id": 2, "up": False, "source": "none", "down_since_ms": 0}],
    )
    record = ShownRecord(0, 1, 1_760_000_000_000, decode(b"k"), decode(b"here"), ())
    shown = ReadResult([record], (UnreadPartition(1, NO_LEADER),))
    monkeypatch.setattr(read_records, "read", lambda *_: shown)
    answer = client_of(viewer).get(BROWSE)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Partition 1 has no leader. Broker 2 is down" in page
    assert "Start the broker" in page
    assert "here" in page
    monkeypatch.setattr(read_records, "read", lambda *_: ReadResult([], shown.unread))
    answer = client_of(viewer).get(f"{BROWSE}?partition=1")
    assert answer.status_code == 503
    page = answer.content.decode()
    assert "Partition 1 has no leader. Broker 2 is down" in page
    assert "No records here" not in page, "it was not read: nobody knows"


def test_an_offset_without_a_partition_has_a_link_for_each_partition(sampled, client_of, viewer):
    page = client_of(viewer).get(f"{BROWSE}?partition=&offset=3&limit=50").content.decode()
    for partition in (0, 1):
        assert f"?partition={partition}&amp;offset=3&amp;limit=50" in page


def test_only_admins_see_the_messages_tab_of_internal_topics(sampled, client_of, viewer, admin):
    overview = "/c/local/topics/__consumer_offsets"
    assert f"{overview}/messages" not in client_of(viewer).get(overview).content.decode()
    assert f"{overview}/messages" in client_of(admin).get(overview).content.decode()
    refused = client_of(viewer).get(f"{overview}/messages")
    assert refused.status_code == 403
    assert "does not include reading the records" in refused.content.decode()


def test_a_cluster_that_does_not_answer_is_reported(sampled, client_of, viewer, monkeypatch):
    def down(*_):
        raise ClusterUnavailable("no broker answers")

    monkeypatch.setattr(read_records, "read", down)
    answer = client_of(viewer).get(BROWSE)
    assert answer.status_code == 503
    page = answer.content.decode()
    assert "The records could not be read" in page
    assert "No broker answers." in page


def test_a_rule_is_added_listed_and_removed_and_each_is_audited(sampled, client_of, admin):
    client = client_of(admin)
    assert client.post(MASKING, RULE).url == MASKING
    page = client.get(MASKING).content.decode()
    assert "value.card" in page
    assert "<td>Operators and admins</td>" in page
    rule = MaskingRule.objects.get()
    client.post(reverse("masking-remove", args=["local", rule.pk]))
    assert not MaskingRule.objects.exists()
    assert list(AuditEntry.objects.values_list("action", "resource")) == [
        ("masking.remove", "orders*"), ("masking.add", "orders*"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"target": "card"},
        {"target": "value. x"},
        {"topic_pattern": ""},
        RULE,
        {"shown_to": "owner"},
        {"shown_to": "nobody"},
    ],
)
def test_invalid_and_duplicate_rules_are_reported_in_the_form(sampled, client_of, admin, wrong):
    MaskingRule.objects.create(cluster=sampled[0], **RULE)
    answer = client_of(admin).post(MASKING, RULE | wrong if wrong else {})
    assert answer.status_code == 422
    assert MaskingRule.objects.count() == 1


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("[", "Character 1, “[”"), ("orders(.*)+$", "Character 7, “(”"), ("a*" * 11, "at most 10")],
)
def test_a_pattern_that_can_match_no_topic_or_has_too_many_stars_is_reported_at_its_field(
    sampled, client_of, admin, pattern, told
):
    answer = client_of(admin).post(MASKING, RULE | {"topic_pattern": pattern})
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not MaskingRule.objects.exists()


def test_a_rule_that_was_removed_already_is_reported_clearly(sampled, client_of, admin):
    answer = client_of(admin).post(reverse("masking-remove", args=["local", 77]))
    assert answer.status_code == 404
    page = answer.content.decode()
    assert "no such masking rule" in page
    assert "matches the given query" not in page


def test_a_rule_of_another_cluster_cannot_be_removed(sampled, client_of, admin):
    rule = MaskingRule.objects.create(cluster=sampled[1], **RULE)
    client = client_of(admin)
    assert client.post(reverse("masking-remove", args=["local", rule.pk])).status_code == 404
    assert client.post(MASKING, RULE).status_code == 302
    assert MaskingRule.objects.count() == 2


def test_rules_of_other_entries_of_the_cluster_are_listed_with_a_link(sampled, client_of, admin):
    for cluster in sampled:
        kafka_cluster_id.record(cluster, "one-cluster")
    client = client_of(admin)
    client.post("/c/staging/masking", RULE)
    page = client.get(MASKING).content.decode()
    assert "value.card" in page
    assert 'href="/c/staging/masking">rule of “Staging”, the same cluster' in page
    rule = MaskingRule.objects.get()
    assert reverse("masking-remove", args=["local", rule.pk]) not in page


def test_only_admins_see_masking_in_the_menu(sampled, client_of, viewer, operator, admin):
    shown = [MASKING in client_of(who).get("/c/local/").content.decode()
             for who in (viewer, operator, admin)]  # fmt: skip
    assert shown == [False, False, True]
