"""What is masked for a user leaves by none of the ways that records leave by."""

import io
import json
from urllib.parse import quote, urlencode

import cbor2
import msgpack
import pyarrow.parquet as pq
import pytest
from asgiref.sync import async_to_sync
from confluent_kafka import Producer

from console.records.models import MaskingRule
from monitoring.models import Cluster
from tests.console.conftest import a_user
from tests.support.live_cluster import LiveCluster

TOPIC = "masked-exits"
SECRET = "4711-0815"
VALUES = {
    "json": json.dumps({"card": SECRET, "n": 1, "inner": [{"card": SECRET}]}).encode(),
    "escaped": b'{"card": "\\u0034711-0815", "n": 2}',
    "text": f"card={SECRET}".encode(),
    "msgpack": msgpack.packb({"card": SECRET}),
    "cbor": cbor2.dumps({"card": SECRET}),
    "nested": json.dumps(json.dumps({"card": SECRET})).encode(),
}
TARGETS = ("key", "value.card", "value.inner.card", "headers.token")
PAGE = f"/c/live/topics/{TOPIC}/messages"
ENCODINGS = ("auto", "text", "msgpack", "cbor", "hex", "base64", "uuid", "int64")
COLUMNS = "key, value, value.card, value.inner.0.card, headers.token"
FORMS_OF_SECRET = (
    SECRET.encode(),
    SECRET.encode().hex().encode(),
    SECRET.encode().hex(" ").encode(),
    SECRET.encode().hex(" ", 2).encode(),
    b"\\u0034711",
    b"NDcxMS0wODE1",  # base64
    quote(SECRET).encode(),
)


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    with live_cluster.gateway() as gateway:
        is_new = not gateway.wire.has_topic(TOPIC)
    if is_new:
        live_cluster.create_topic(TOPIC, 1)
        producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
        for value in VALUES.values():
            producer.produce(TOPIC, value, SECRET, headers=[("token", SECRET.encode())])
        assert producer.flush(30) == 0
    row = live_cluster.row()
    row.save()
    for target in TARGETS:
        MaskingRule.objects.create(cluster=row, topic_pattern=TOPIC, target=target)
    return row


def exits() -> list[str]:
    displays = [urlencode({"key_as": name, "value_as": name}) for name in ENCODINGS]
    displays.append(urlencode({"columns": COLUMNS}))
    each = range(len(VALUES))
    return [
        *(f"{PAGE}?{display}" for display in displays),
        *(f"{PAGE}/search/results?{display}" for display in displays),
        *(f"{PAGE}/0/{offset}?{displays[offset]}" for offset in each),
        f"{PAGE}/0/0?{displays[-1]}",
        *(f"{PAGE}/0/{offset}/value" for offset in each),
        *(f"{PAGE}/0/{offset}/record" for offset in each),
        *(f"{PAGE}/export?file_format={name}" for name in ("jsonl", "csv")),
    ]


async def _streamed(answer) -> bytes:
    return b"".join([piece async for piece in answer.streaming_content])


def content(answer) -> bytes:
    return async_to_sync(_streamed)(answer) if answer.streaming else answer.content


def test_no_exit_shows_what_is_masked(cluster, client_of):
    client = client_of(a_user("masked-viewer", "viewer"))
    for url in exits():
        answer = client.get(url)
        found = content(answer)
        assert answer.status_code == 200, url
        assert "••••".encode() in found or b"\\u2022" in found, url
        shown = [form for form in FORMS_OF_SECRET if form in found]
        assert not shown, (url, shown)


def test_a_parquet_export_has_the_masks(cluster, client_of):
    client = client_of(a_user("masked-viewer", "viewer"))
    found = content(client.get(f"{PAGE}/export?file_format=parquet"))
    rows = pq.read_table(io.BytesIO(found)).to_pylist()
    assert len(rows) == len(VALUES)
    assert SECRET not in str(rows)


@pytest.mark.parametrize(
    "query",
    [
        {"text": SECRET},
        {"text": SECRET[:4], "field": "key"},
        {"text": SECRET, "field": "header_value"},
        {"text": "47.1", "operator": "matches"},
        {"expression": f'record.value.card == "{SECRET}"'},
        {"expression": f'record.valueAsText.contains("{SECRET}")'},
        {"expression": 'record.keyAsText.startsWith("4711")'},
        {"expression": f'record.headers["token"] == "{SECRET}"'},
    ],
)
def test_no_search_and_no_export_finds_what_is_masked(cluster, client_of, query):
    client = client_of(a_user("masked-viewer", "viewer"))
    found = content(client.get(f"{PAGE}/search/results", query))
    assert b'"rows"' not in found
    found = content(client.get(f"{PAGE}/export", query))
    assert json.loads(found)["end"]["records"] == 0


def test_an_admin_sees_it_everywhere(cluster, client_of):
    """So the other tests do look for something that is there."""
    client = client_of(a_user("masked-admin", "admin"))
    for url in (PAGE, f"{PAGE}/search/results", f"{PAGE}/0/0", f"{PAGE}/export"):
        assert SECRET.encode() in content(client.get(url)), url
