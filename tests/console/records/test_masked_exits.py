"""No page, search, download or export shows a user what is masked for them."""

import csv
import io
import json
import re
from itertools import product
from urllib.parse import quote, urlencode

import cbor2
import msgpack
import pyarrow.parquet as pq
import pytest

from console.records.models import MaskingRule
from monitoring.models import Cluster
from monitoring.records.mask_record import MASK, MASK_BYTES
from tests.console.conftest import a_user, content_of
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
    b"\\u0034711",
    b"NDcxMS0wODE1",  # base64
    quote(SECRET).encode(),
)
FORMS_OF_MASK = (
    MASK,
    MASK_BYTES.hex(),
    *("4oCi", "gKLi", "ouKA"),  # base64: one of them, wherever the mask begins
)


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    headers = [("token", SECRET.encode())]
    records = ({"value": value, "key": SECRET, "headers": headers} for value in VALUES.values())
    live_cluster.write_once(TOPIC, 1, records)
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
        *(f"{PAGE}/search/results?{display}" for display in (displays[0], displays[-1])),
        *(f"{PAGE}/0/{offset}?{display}" for offset, display in product(each, displays)),
        *(f"{PAGE}/0/{offset}/value" for offset in each),
        *(f"{PAGE}/0/{offset}/record" for offset in each),
        *(f"{PAGE}/export?file_format={name}" for name in ("jsonl", "csv")),
    ]


def with_joined_hex(found: bytes) -> bytes:
    """Hex is in groups of one or two bytes, wherever in them the data begin."""
    return found + found.replace(b" ", b"")


def values_in(url: str, text: str) -> list[str]:
    """What an exit shows as values, without keys and headers."""
    place = url.removeprefix(PAGE).partition("?")[0]
    if place.endswith("/value"):
        return [text]
    if place.endswith("/record"):
        return [json.loads(text)["value"]["text"]]
    if url.endswith("=csv"):
        return [row["value"] for row in csv.DictReader(io.StringIO(text))]
    if place == "/export":
        return [line["value"]["text"] for line in map(json.loads, text.splitlines()[:-1])]
    if place == "/search/results":
        lines = map(json.loads, text.splitlines())
        text = "".join(row["html"] for line in lines for row in line.get("rows", ()))
    in_table, in_panel = r'<td class="record-value">(.*?)</td>', r">Value</h3>(.*?)</section>"
    return re.findall(in_panel if place.startswith("/0/") else in_table, text, re.DOTALL)


def test_no_exit_shows_what_is_masked(cluster, client_of):
    client = client_of(a_user("masked-viewer", "viewer"))
    for url in exits():
        answer = client.get(url)
        found = content_of(answer)
        assert answer.status_code == 200, url
        values = values_in(url, found.decode())
        assert len(values) == (1 if "/0/" in url else len(VALUES)), url
        for value in values:
            text = with_joined_hex(value.encode()).decode()
            assert any(form in text for form in FORMS_OF_MASK), (url, value)
        joined = with_joined_hex(found)
        shown = [form for form in FORMS_OF_SECRET if form in joined]
        assert not shown, (url, shown)


def test_a_parquet_export_has_the_masks(cluster, client_of):
    client = client_of(a_user("masked-viewer", "viewer"))
    found = content_of(client.get(f"{PAGE}/export?file_format=parquet"))
    rows = pq.read_table(io.BytesIO(found)).to_pylist()
    assert len(rows) == len(VALUES)
    assert all(MASK_BYTES in row["value"] and row["key"] == MASK_BYTES for row in rows)
    assert all(row["headers"] == [{"name": "token", "value": MASK_BYTES}] for row in rows)
    assert not any(form in repr(rows).encode() for form in FORMS_OF_SECRET)


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
    found = content_of(client.get(f"{PAGE}/search/results", query))
    assert b'"rows"' not in found
    found = content_of(client.get(f"{PAGE}/export", query))
    assert json.loads(found)["end"]["records"] == 0


def test_an_admin_sees_it_everywhere(cluster, client_of):
    """So the other tests do look for something that is there."""
    client = client_of(a_user("masked-admin", "admin"))
    for url in (PAGE, f"{PAGE}/search/results", f"{PAGE}/0/0", f"{PAGE}/export"):
        assert SECRET.encode() in content_of(client.get(url)), url
