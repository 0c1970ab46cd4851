"""Searches with the rights, the masks and the audit of the console, on a real cluster."""

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import PermissionDenied

from console.accounts.principal import Principal
from console.audit.models import AuditEntry
from console.records import column_paths, search_stream, start_search
from console.records.display_options import DEFAULT, DisplayOptions
from console.records.models import MaskingRule
from console.records.search_response import stream_chunks
from console.records.search_stream import ResultView
from console.records.start_search import SearchQuery
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, NotFound
from monitoring.models import Cluster
from monitoring.records.filters import Condition
from monitoring.records.search_events import Event, SearchProgress
from tests.console.conftest import a_user, content_of
from tests.support.live_cluster import LiveCluster

TOPIC = "console-search"
COUNT = 200
FIRST_MS = (int(time.time()) - 3600) * 1000  # within the retention of a topic
WAIT_S = 60.0


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    records = (
        {
            "value": json.dumps({"number": number, "card": f"card-{number:04}"}), "key": b"k",
            "partition": number % 2, "timestamp": FIRST_MS + number * 1000,
        }
        for number in range(COUNT)
    )  # fmt: skip
    live_cluster.write_once(TOPIC, 2, records)
    cluster = live_cluster.row()
    cluster.save()
    return cluster


def principal(role: str, **more) -> Principal:
    return Principal(a_user(f"search-{role}", role, **more), "127.0.0.1")


def found(user: Principal, cluster: Cluster, **query) -> tuple[list[int], SearchProgress]:
    """The numbers in the values that match, and the last progress."""
    numbers: list[int] = []
    with start_search.start(user, cluster, SearchQuery(TOPIC, **query)) as running:
        for event in running.events():
            if isinstance(event, SearchProgress):
                progress = event
            else:
                numbers += [json.loads(row.value)["number"] for row in event]
    return sorted(numbers), progress


def contains(text: str) -> tuple[Condition]:
    return (Condition("value", "contains", text),)


def test_a_viewer_finds_a_record(cluster):
    numbers, progress = found(principal("viewer"), cluster, conditions=contains("card-0123"))
    assert (numbers, progress.end) == ([123], "complete")


def test_a_range_of_time_and_a_partition_limit_what_is_read(cluster):
    since, until = FIRST_MS + 50_000, FIRST_MS + 60_000
    numbers, progress = found(principal("viewer"), cluster, since_ms=since, until_ms=until)
    assert numbers == list(range(50, 60))
    assert progress.offsets_total == 10
    numbers, _ = found(principal("operator"), cluster, since_ms=since, until_ms=until, partition=1)
    assert numbers == [51, 53, 55, 57, 59]


def test_a_range_of_offsets_is_that_of_each_partition(cluster):
    user, both = principal("viewer"), {"first_offset": 10, "end_offset": 12}
    numbers, progress = found(user, cluster, **both)
    assert progress.offsets_total == len(numbers) == 4
    assert found(user, cluster, **both, partition=1)[0] == [21, 23]
    assert found(user, cluster, first_offset=10**12)[0] == []


def test_what_is_masked_for_a_role_is_not_found_by_it(cluster):
    MaskingRule.objects.create(cluster=cluster, topic_pattern=TOPIC, target="value.card")
    viewer = principal("viewer")
    assert found(viewer, cluster, conditions=contains("card-0123"))[0] == []
    assert found(viewer, cluster, expression="record.value.number == 7")[0] == [7]
    assert not AuditEntry.objects.filter(action="record.unmask").exists()
    assert found(principal("admin"), cluster, conditions=contains("card-0123"))[0] == [123]
    assert AuditEntry.objects.filter(action="record.unmask", actor_name="search-admin").exists()


def test_without_the_right_to_the_topic_there_is_no_search(cluster):
    with pytest.raises((PermissionDenied, NotFound)):
        start_search.start(principal("viewer", topics=["other"]), cluster, SearchQuery(TOPIC))


def test_unknown_topics_and_partitions_are_clear_errors(cluster):
    user = principal("viewer")
    with pytest.raises(NotFound):
        start_search.start(user, cluster, SearchQuery("no-such-topic"))
    with pytest.raises(ClusterUnavailable):
        start_search.start(user, cluster, SearchQuery(TOPIC, partition=9))


def lines(cluster: Cluster, user: Principal, **query) -> list[dict]:
    async def collect() -> list[bytes]:
        view = ResultView(cluster, TOPIC, [], display)
        found = search_stream.lines(running.events(), view)
        return [line async for line in stream_chunks(running, found)]

    display = query.pop("display", DEFAULT)
    running = start_search.start(user, cluster, SearchQuery(TOPIC, **query))
    return [json.loads(line) for line in async_to_sync(collect)()]


def test_the_browser_gets_rows_and_progress_as_lines(cluster):
    told = lines(cluster, principal("viewer"), conditions=contains("card-0123"))
    (rows,) = (line["rows"] for line in told if "rows" in line)
    assert rows[0]["time"] == FIRST_MS + 123_000
    assert "card-0123" in rows[0]["html"]
    assert told[-1]["end"] == "complete"
    assert "Complete" in told[-1]["progress"]


def progress_shown(progress: SearchProgress, matches_max: int = 100) -> str:
    view = ResultView(Cluster(slug="live"), TOPIC, [], DEFAULT, matches_max=matches_max)
    (line,) = search_stream.lines(iter([progress]), view)
    return " ".join(json.loads(line)["progress"].split())


def test_an_end_by_an_error_is_said_with_a_sentence():
    gone = SearchProgress(unread={0: Reason("partition_gone")}, end="error")
    shown = progress_shown(gone)
    assert "Ended by an error" in shown
    assert "Complete" not in shown
    assert "The topic or partition does not exist any more." in shown


def test_matches_that_the_table_has_no_rows_for_are_said():
    shown = progress_shown(SearchProgress(matched=111, end="limit"))
    assert "The first 100 matches are shown; 111 were found before the search stopped." in shown
    shown = progress_shown(SearchProgress(matched=111, end="complete"))
    assert "The first 100 of 111 matches are shown." in shown
    assert "are shown" not in progress_shown(SearchProgress(matched=100, end="limit"))


def test_a_search_that_found_nothing_says_what_to_try():
    assert "Nothing found" in progress_shown(SearchProgress(end="complete"))
    assert "Nothing found" not in progress_shown(SearchProgress())
    assert "Nothing found" not in progress_shown(SearchProgress(matched=1, end="complete"))


def test_fields_are_columns_of_the_results(cluster):
    display = DisplayOptions(columns=column_paths.parse("value.card, value.missing"))
    (rows,) = (
        line["rows"]
        for line in lines(
            cluster, principal("viewer"), conditions=contains("card-0123"), display=display
        )
        if "rows" in line
    )
    cells = rows[0]["html"].split("<td")
    assert "card-0123" in cells[4]
    assert "–" in cells[5]


@contextmanager
def followed(cluster: Cluster, topic: str, **query) -> Iterator[Iterator[Event]]:
    """The events of a search that follows; after WAIT_S they raise Unreadable."""
    wanted = SearchQuery(topic, follows=True, **query)
    with start_search.start(principal("viewer"), cluster, wanted) as running:
        limit = threading.Timer(WAIT_S, running.stop)
        limit.start()
        try:
            yield running.events()
        finally:
            limit.cancel()


def test_a_followed_search_finds_what_is_written_after_it_began(cluster, live_cluster):
    topic = f"console-follow-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 2)
    with followed(cluster, topic, conditions=contains("followed")) as events:
        assert next(events).matched == 0
        values = (b"followed", b"other")
        live_cluster.write(topic, ({"value": value, "partition": 1} for value in values))
        rows = next(event for event in events if isinstance(event, list))
    assert [row.value for row in rows] == [b"followed"]


def test_a_followed_search_finds_what_is_written_to_a_partition_that_is_new(cluster, live_cluster):
    topic = f"console-growing-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 1)
    with followed(cluster, topic) as events:
        assert next(events).matched == 0
        with live_cluster.gateway() as gateway:
            gateway.topics.create_partitions(topic, 2)
        live_cluster.produce(topic, {1: 1})
        rows = next(event for event in events if isinstance(event, list))
    assert [row.partition for row in rows] == [1]


@pytest.mark.parametrize(("role", "has_link"), [("viewer", False), ("operator", True)])
def test_who_may_write_can_send_a_found_record_again(cluster, client_of, role, has_link):
    client = client_of(a_user(f"search-again-{role}", role))
    url = f"/c/live/topics/{TOPIC}/messages/search/results"
    found = content_of(client.get(url, {"text": "card-0123"})).decode()
    assert "card-0123" in found
    panel = client.get(re.search(r'data-panel=\\"([^"?]+)', found)[1]).content.decode()
    assert ("/write?partition=1" in panel) is has_link


def test_the_fields_of_an_export_are_closed_after_a_search(cluster, client_of):
    client = client_of(a_user("search-fields", "viewer"))
    url = f"/c/live/topics/{TOPIC}/messages/search"
    closed = client.get(url, {"text": "a", "file_format": "jsonl", "continue_at": ""})
    assert '<details class="display-options">' in closed.content.decode()
    assert '<details class="display-options" open>' not in closed.content.decode()
    opened = client.get(url, {"text": "a", "continue_at": "0:7"})
    assert '<details class="display-options" open>' in opened.content.decode()


def test_a_failing_expression_is_said_with_its_first_record(cluster):
    told = lines(cluster, principal("viewer"), expression="record.value.missing > 1")
    assert "failed on 200 records" in told[-1]["progress"]
    assert "no field" in told[-1]["progress"]


def test_the_page_says_what_is_wrong_with_the_form(cluster, client_of):
    client = client_of(a_user("search-forms", "viewer"))
    url = f"/c/live/topics/{TOPIC}/messages/search"
    for query, text in (
        ({"expression": "record.value."}, "Column 14: “.” is not expected here."),
        ({"text": "(", "operator": "matches"}, "regular expression is not valid"),
        ({"since": "2026-01-02T00:00", "until": "2026-01-01T00:00"}, "must be later"),
        ({"since": "2026-01-02T00:00", "order": "follow"}, "no range of times or offsets"),
        ({"first_offset": "3", "order": "follow"}, "no range of times or offsets"),
        ({"first_offset": "3", "end_offset": "3"}, "above “From offset”"),
        ({"columns": "value.a, name"}, "“name” is not a field"),
        ({"columns": ", ".join(f"value.a{n}" for n in range(9))}, "at most 8 fields"),
        ({"continue_at": "0-12"}, "Enter partition:offset"),
    ):
        answer = client.get(url, query)
        assert (answer.status_code, text in answer.content.decode()) == (422, True), query
    assert client.get(f"{url}/results", {"expression": "1 +"}).status_code == 422
    assert "ends too early" in client.get(f"{url}/check", {"expression": "1 +"}).json()["error"]
    assert client.get(f"{url}/check", {"expression": "record.offset > 1"}).json() == {"error": ""}
    assert client.get(url).status_code == 200
