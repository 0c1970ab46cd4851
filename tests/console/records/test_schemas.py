"""Records with a schema on a real cluster, with a registry: read, masked, searched, downloaded."""

import json
from collections.abc import Iterator

import pytest
from django.urls import reverse

from console.records import start_search
from console.records.models import MaskingRule
from console.records.read_records import RecordQuery, read, read_row
from console.records.shown_record import MASKED
from console.records.start_search import SearchQuery
from monitoring.models import Cluster
from monitoring.records.filters import Condition
from monitoring.records.search_events import SearchProgress
from monitoring.schema_registry import schema_cache
from tests.console.conftest import by
from tests.monitoring.schema_registry import serialized
from tests.support.live_cluster import LiveCluster
from tests.support.schema_registry import Registry, schema_registry

TOPIC = "schemas-console"
UNKNOWN = b"\0\0\0\0\x63secret-of-schema-99"
# What the page must not show, in any form, of AVRO_RECORD's user.
SECRETS = ("Zo", "4111", "Wm", "5a6f", "34313131")


@pytest.fixture(scope="module")
def _registry() -> Iterator[Registry]:
    with schema_registry() as running:
        serialized.add_all(running)
        yield running


@pytest.fixture
def registry(settings, _registry: Registry) -> Registry:
    """A registry of which this process knows no schema yet."""
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    _registry.login = "ann:secret"
    schema_cache.cache_of.cache_clear()
    return _registry


@pytest.fixture
def cluster(db, redis_server, live_cluster: LiveCluster, registry: Registry) -> Cluster:
    row = live_cluster.row("local", registry_url=registry.url, registry_username="ann")
    row.set_secret("registry_password", "secret")
    row.save()
    return row


@pytest.fixture
def topic(live_cluster: LiveCluster) -> str:
    """Offsets 0 to 4: Avro, JSON Schema, Protobuf, an unknown schema, plain JSON."""
    values = (serialized.AVRO_RECORD, serialized.JSON_RECORD, serialized.PROTO_RECORD, UNKNOWN,
              b'{"user": {"name": "Plain"}}')  # fmt: skip
    records = ({"value": value, "key": serialized.JSON_RECORD} for value in values)
    live_cluster.write_once(TOPIC, 1, records)
    return TOPIC


def values(user, cluster, topic):
    records = read(by(user), cluster, RecordQuery(topic, 0, 0)).records
    return [record.value for record in records]


def found(user, cluster, topic, **query) -> tuple[list[int], SearchProgress]:
    """The offsets that match, and the last progress."""
    offsets: list[int] = []
    with start_search.start(by(user), cluster, SearchQuery(topic, **query)) as running:
        for event in running.events():
            if isinstance(event, SearchProgress):
                progress = event
            else:
                offsets += [row.offset for row in event]
    return sorted(offsets), progress


def mask(cluster, *targets):
    for target in targets:
        MaskingRule.objects.create(cluster=cluster, topic_pattern="schemas-*", target=target)


def test_records_are_decoded_by_their_schemas(cluster, topic, viewer):
    avro, clicks, proto, unknown, plain = values(viewer, cluster, topic)
    assert json.loads(avro.text) == serialized.AVRO_VALUE
    assert json.loads(clicks.text) == serialized.JSON_VALUE
    assert json.loads(proto.text) == serialized.PROTO_VALUE
    kinds = [(each.kind, each.schema.schema_id, each.schema.type) for each in (avro, clicks, proto)]
    assert kinds == [("json", 1, "AVRO"), ("json", 2, "JSON"), ("json", 3, "PROTOBUF")]
    assert avro.schema.subject == "payments-value"
    assert avro.size_bytes == len(serialized.AVRO_RECORD)
    assert unknown.schema.problem.code == "schema_missing"
    assert plain.schema is None


def test_keys_are_decoded_too(cluster, topic, viewer):
    [record] = read(by(viewer), cluster, RecordQuery(topic, 0, 0, 1)).records
    assert json.loads(record.key.text) == serialized.JSON_VALUE


def test_without_a_registry_data_are_bytes(cluster, topic, viewer):
    cluster.registry_url = ""
    assert values(viewer, cluster, topic)[0].kind == "hex"


def test_a_member_is_masked_in_every_format(cluster, topic, viewer, admin):
    mask(cluster, "value.user", "value.customer.cardNumber")
    shown = values(viewer, cluster, topic)
    assert json.loads(shown[0].text) == serialized.AVRO_VALUE | {"user": "••••"}
    assert not any(secret in repr(shown[0]) for secret in SECRETS)
    assert json.loads(shown[2].text)["customer"]["card_number"] == "••••"
    assert shown[3] == MASKED
    assert "Plain" not in repr(shown[4])
    assert json.loads(values(admin, cluster, topic)[0].text) == serialized.AVRO_VALUE


def test_what_cannot_be_decoded_is_masked_as_a_whole(cluster, topic, viewer, registry):
    mask(cluster, "value.user.card")
    registry.login = "another:login"
    shown = values(viewer, cluster, topic)
    assert [each.kind for each in shown[:4]] == ["masked"] * 4
    assert not any(secret in repr(shown[:4]) for secret in (*SECRETS, "secret-of"))


def test_a_download_has_the_raw_bytes_or_the_masked_json(cluster, topic, viewer, client_of):
    browser = client_of(viewer)
    urls = {part: reverse("message-download", args=["local", topic, 0, 0, part])
            for part in ("value", "record")}  # fmt: skip
    assert browser.get(urls["value"]).content == serialized.AVRO_RECORD
    whole = json.loads(browser.get(urls["record"]).content)
    assert json.loads(whole["value"]["text"]) == serialized.AVRO_VALUE
    assert whole["value"]["schema"]["id"] == 1
    mask(cluster, "value.user")
    for url in urls.values():
        content = browser.get(url).content.decode()
        assert not any(secret in content for secret in SECRETS)
        assert "12.50" in content
    assert read_row(by(viewer), cluster, topic, 0, 0).value_schema.raw is None


def test_the_panels_show_schema_and_reason(cluster, topic, viewer, client_of):
    urls = (reverse("message-panel", args=["local", topic, 0, offset]) for offset in range(5))
    page = "".join(client_of(viewer).get(url).content.decode() for url in urls)
    assert "payments-value, version 1" in page
    assert "Avro" in page
    assert "shop.v1.Order" in page
    assert "Not decoded: The schema registry has no schema with the id 99." in page


@pytest.mark.parametrize(
    ("query", "offsets"),
    [
        ({"expression": 'record.value.user.name == "Zoë"'}, [0]),
        ({"expression": "record.value.order_id > 1000"}, [2]),
        ({"expression": 'has(record.value.state) && record.value.state == "PAID"'}, [2]),
        ({"conditions": (Condition("value", "contains", "2026-11-27T21:00:00.000Z"),)}, [0]),
        ({"conditions": (Condition("value", "contains", '"n":3'),)}, [1]),
        ({"conditions": (Condition("value", "matches", '"amount":"12[.]50"'),)}, [0]),
        ({"conditions": (Condition("key", "equals", '{"page":"/a","n":3}'),)}, [0, 1, 2, 3, 4]),
        ({"conditions": (Condition("value", "contains", "Plain"),)}, [4]),
    ],
)
def test_a_search_sees_decoded_data(cluster, topic, viewer, query, offsets):
    assert found(viewer, cluster, topic, **query)[0] == offsets


def test_a_search_counts_what_was_not_decoded(cluster, topic, viewer):
    progress = found(viewer, cluster, topic, expression="true")[1]
    assert progress.undecoded == 1
    assert progress.first_undecoded.code == "schema_missing"


@pytest.mark.parametrize("text", ["Zoë", "4111-1111", "secret-of-schema", "Plain"])
def test_a_search_does_not_look_into_masked_data(cluster, topic, viewer, admin, text):
    mask(cluster, "value.user")
    query = {"conditions": (Condition("any", "contains", text),)}
    assert found(viewer, cluster, topic, **query)[0] == []
    assert len(found(admin, cluster, topic, **query)[0]) == 1
