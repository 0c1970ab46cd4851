"""The pages of records and of masking, and what they say where nothing can be read."""

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from console.messages import services
from console.messages.decode import decode
from console.messages.models import MaskingRule
from console.messages.services import ShownRecord
from monitoring.gateway.errors import ClusterUnavailable

BROWSE = "/c/local/topics/orders/messages"
MASKING = "/c/local/masking"
RULE = {"topic_pattern": "orders*", "target": "value.card"}


@pytest.fixture
def asked(monkeypatch):
    """The queries that reach the door; each is answered with one record."""
    queries = []

    def read(principal, cluster, query):
        queries.append(query)
        value = decode(b'{"text": "<script>alert(1)</script>"}')
        return [ShownRecord(1, 41, 1_760_000_000_000, decode(b"k"), value, (("h", decode(None)),))]

    monkeypatch.setattr(services, "read", read)
    return queries


def test_the_newest_are_read_where_nothing_is_asked(sampled, client_of, viewer, asked):
    page = client_of(viewer).get(BROWSE).content.decode()
    assert asked == [services.Query("orders", None, None, 25)]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_partition_and_an_offset_lead_to_older_and_newer_ones(sampled, client_of, viewer, asked):
    page = client_of(viewer).get(f"{BROWSE}?partition=1&offset=41&limit=25").content.decode()
    assert asked == [services.Query("orders", 1, 41, 25)]
    assert "?partition=1&amp;offset=16&amp;limit=25" in page
    assert "?partition=1&amp;offset=42&amp;limit=25" in page


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("offset=3", "choose it"),
        ("partition=7", "partitions 0 to 1"),
        ("partition=1&offset=-1", "greater than or equal to 0"),
        ("partition=1&offset=99999999999999999999", "less than or equal to"),
        ("limit=1000000", "valid choice"),
        ("partition=x", "whole number"),
    ],
)
def test_a_wrong_question_is_answered_at_its_field(sampled, client_of, viewer, asked, query, told):
    assert told in client_of(viewer).get(f"{BROWSE}?{query}").content.decode()
    assert asked == []


def test_a_cluster_that_does_not_answer_is_said(sampled, client_of, viewer, monkeypatch):
    def down(*_):
        raise ClusterUnavailable("no broker answers")

    monkeypatch.setattr(services, "read", down)
    page = client_of(viewer).get(BROWSE).content.decode()
    assert "The records could not be read" in page
    assert "no broker answers" in page


def test_a_rule_is_added_listed_and_removed_and_each_is_written_down(sampled, client_of, admin):
    client = client_of(admin)
    assert client.post(MASKING, RULE).url == MASKING
    assert "value.card" in client.get(MASKING).content.decode()
    rule = MaskingRule.objects.get()
    client.post(reverse("masking-remove", args=["local", rule.pk]))
    assert not MaskingRule.objects.exists()
    assert list(AuditEntry.objects.values_list("verb", "resource")) == [
        ("masking.remove", "orders*"), ("masking.add", "orders*"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{}, {"target": "card"}, {"target": "value. x"}, {"topic_pattern": ""}, RULE]
)
def test_a_wrong_rule_and_one_that_is_there_are_told_in_the_form(sampled, client_of, admin, wrong):
    MaskingRule.objects.create(cluster=sampled[0], **RULE)
    answer = client_of(admin).post(MASKING, RULE | wrong if wrong else {})
    assert answer.status_code == 422
    assert MaskingRule.objects.count() == 1


def test_a_rule_of_one_cluster_is_not_there_in_the_other(sampled, client_of, admin):
    rule = MaskingRule.objects.create(cluster=sampled[1], **RULE)
    client = client_of(admin)
    assert client.post(reverse("masking-remove", args=["local", rule.pk])).status_code == 404
    assert client.post(MASKING, RULE).status_code == 302
    assert MaskingRule.objects.count() == 2


def test_the_menu_leads_to_masking_for_admins_alone(sampled, client_of, viewer, operator, admin):
    shown = [MASKING in client_of(who).get("/c/local/").content.decode()
             for who in (viewer, operator, admin)]  # fmt: skip
    assert shown == [False, False, True]
