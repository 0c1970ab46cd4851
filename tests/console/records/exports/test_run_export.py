"""Exports from a real cluster: whole, limited and continued, masked, audited."""

import csv
import io
import json
import time

import pyarrow.parquet as pq
import pytest
from django.core.exceptions import PermissionDenied

from console.accounts.principal import Principal
from console.audit.models import AuditEntry
from console.records.exports import run_export
from console.records.exports.run_export import file_chunks, parse_positions, positions_text
from console.records.exports.writers import writer_of
from console.records.models import MaskingRule
from console.records.start_search import SearchQuery
from monitoring.models import Cluster
from monitoring.records.filters import Condition
from monitoring.records.search_events import SearchProgress
from monitoring.records.search_limits import ExportLimits
from tests.console.conftest import a_user, content_of
from tests.support.live_cluster import LiveCluster

TOPIC = "console-export"
COUNT = 3000  # in each of two partitions
FIRST_MS = (int(time.time()) - 3600) * 1000


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    records = (
        {
            "value": json.dumps({"number": number, "card": f"card-{number:04}"}),
            "partition": number % 2, "timestamp": FIRST_MS + number,
        }
        for number in range(2 * COUNT)
    )  # fmt: skip
    live_cluster.write_once(TOPIC, 2, records)
    row = live_cluster.row()
    row.save()
    return row


@pytest.fixture
def viewer(db) -> Principal:
    return Principal(a_user("export-viewer", "viewer"), "127.0.0.1")


def export(
    principal: Principal, cluster: Cluster, limit: int = 10_000, **query
) -> tuple[list[int], dict]:
    """The numbers in the values, and the end."""
    limits = ExportLimits(limit, 1 << 30, 60)
    with run_export.start(
        principal, cluster, SearchQuery(TOPIC, **query), "jsonl", limits
    ) as running:
        data = b"".join(file_chunks(running.events(), writer_of("jsonl", TOPIC)))
    *rows, end = map(json.loads, data.splitlines())
    return [json.loads(row["value"]["text"])["number"] for row in rows], end["end"]


def test_all_records_that_match_are_exported_whatever_the_order_of_the_search(cluster, viewer):
    numbers, end = export(cluster=cluster, principal=viewer, newest_first=True, matches_max=100)
    assert sorted(numbers) == list(range(2 * COUNT))
    assert (end["is_complete"], end["continue_at"]) == (True, "")
    numbers, _end = export(viewer, cluster, conditions=(Condition("value", "contains", "-001"),))
    assert sorted(numbers) == list(range(10, 20))


@pytest.mark.parametrize("limit", [1, 2500, 2 * COUNT])
def test_a_limited_export_is_continued_without_a_gap_or_a_record_twice(cluster, viewer, limit):
    found: list[int] = []
    end = {"continue_at": "", "is_complete": False}
    for _ in range(3):
        positions = parse_positions(end["continue_at"])
        numbers, end = export(viewer, cluster, limit, positions=positions)
        found += numbers
        assert len(numbers) <= limit
        if end["is_complete"]:
            break
    assert len(found) == len(set(found))
    assert len(found) == (3 if limit == 1 else 2 * COUNT)
    for partition in range(2):
        offsets = sorted(number // 2 for number in found if number % 2 == partition)
        assert offsets == list(range(len(offsets))), "without a gap"


def test_a_search_that_follows_is_exported_up_to_now(cluster, viewer):
    numbers, end = export(viewer, cluster, follows=True)
    assert (len(numbers), end["is_complete"]) == (2 * COUNT, True)


def test_masked_parts_stay_masked_and_each_export_is_audited(cluster, viewer):
    MaskingRule.objects.create(cluster=cluster, topic_pattern=TOPIC, target="value.card")
    query = SearchQuery(TOPIC, conditions=(Condition("value", "contains", '"number": 12,'),))
    values_in = {"jsonl": values_in_json_lines, "csv": values_in_csv, "parquet": values_in_parquet}
    for name, read in values_in.items():
        with run_export.start(viewer, cluster, query, name) as running:
            data = b"".join(file_chunks(running.events(), writer_of(name, TOPIC)))
        assert [json.loads(value) for value in read(data)] == [{"number": 12, "card": "••••"}]
        assert b"card-" not in data
    entries = AuditEntry.objects.filter(action="record.export").order_by("pk")
    assert [entry.after["format"] for entry in entries] == list(values_in)
    assert all("number" in entry.after["search"]["condition"] for entry in entries)


def values_in_json_lines(data: bytes) -> list[str]:
    *rows, _end = map(json.loads, data.splitlines())
    return [row["value"]["text"] for row in rows]


def values_in_csv(data: bytes) -> list[str]:
    return [row["value"] for row in csv.DictReader(io.StringIO(data.decode()))]


def values_in_parquet(data: bytes) -> list[bytes]:
    return pq.read_table(io.BytesIO(data))["value"].to_pylist()


def test_without_the_right_to_the_topic_there_is_no_export(cluster):
    outsider = Principal(a_user("export-outsider"), "127.0.0.1")
    with pytest.raises(PermissionDenied):
        run_export.start(outsider, cluster, SearchQuery(TOPIC), "csv")


def test_partitions_that_were_not_read_make_an_export_incomplete():
    last = SearchProgress(end="complete", unread={1: "away"}, positions={0: 9, 1: 4})
    (line,) = file_chunks(iter([last]), writer_of("jsonl", TOPIC))
    end = json.loads(line)["end"]
    assert (end["is_complete"], end["continue_at"]) == (False, "0:9,1:4")
    assert list(end["partitions_not_read"]) == ["1"]


def test_positions_are_read_back_from_their_text():
    assert parse_positions(positions_text({1: 7, 0: 41})) == {0: 41, 1: 7}
    assert parse_positions("") == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0", "not enough values"),
        ("0:x", "^x$"),
        ("0:1:2", "too many values"),
        ("-1:2", "^-1$"),
        ("0:99999999999999999999", "^9{20}$"),
    ],
)
def test_what_is_no_position_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        parse_positions(text)


def test_the_download_has_a_name_and_its_errors_are_on_the_page(cluster, client_of):
    client = client_of(a_user("export-views", "viewer"))
    url = f"/c/live/topics/{TOPIC}/messages/export"
    answer = client.get(url, {"file_format": "csv", "text": "card-0007"})
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{TOPIC}-')
    assert b"card-0007" in content_of(answer)
    wrong = client.get(url, {"continue_at": "x", "text": "kept"})
    assert wrong.status_code == 422
    assert 'value="kept"' in wrong.content.decode()
    Cluster.objects.filter(pk=cluster.pk).update(bootstrap_servers="127.0.0.1:1")
    failed = client.get(url, {"text": "kept"})
    assert failed.status_code == 503
    assert 'value="kept"' in failed.content.decode()
