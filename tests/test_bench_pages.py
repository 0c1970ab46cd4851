"""The row `pages` of `make bench`: the cluster that does not exist, what pages do, what is said."""

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import pages, rounds
from bench.in_checkout import names
from bench.in_checkout.synthetic import Synthetic
from bench.measured import Measured
from bench.report import Found, Report
from bench.servers import Process
from bench.sites import tick_times, web_command
from bench.visits import CHART_PAUSE_S, PUSH, Visits, live_parts, percentile, push_delays_ms

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("topics", [1, 7, 200, 10_000])
def test_topics_have_four_partitions_on_average_and_one_at_least(topics: int) -> None:
    counts = Synthetic(topics).partition_counts
    assert len(counts) == topics
    assert counts.sum() == 4 * topics
    assert counts.min() >= 1


def test_the_cluster_is_as_large_as_it_is_said_to_be() -> None:
    cluster = Synthetic(10_000)
    assert len(set(cluster.topics)) == 10_000
    assert len(set(cluster.groups)) == 2_000
    assert len(cluster.partitions(1)["partition"]) == 40_000


def test_what_groups_read_exists_and_their_lag_is_what_is_left() -> None:
    cluster = Synthetic(200)
    rows, partitions = cluster.group_rows(5000), cluster.partitions(5000)
    assert (rows["committed_offset"] >= 0).all()
    assert (rows["log_end_offset"] >= rows["committed_offset"]).all()
    read = set(zip(rows["topic"][1], rows["partition"], strict=True))
    there = set(zip(partitions["topic"][1], partitions["partition"], strict=True))
    assert read <= there
    assert len(set(rows["group"][1])) == len(cluster.groups)


def test_two_checkouts_are_shown_the_same() -> None:
    first, second = Synthetic(50).group_rows(7), Synthetic(50).group_rows(7)
    assert (first["committed_offset"] == second["committed_offset"]).all()
    assert (first["log_end_offset"] <= Synthetic(50).group_rows(8)["log_end_offset"]).all()


@pytest.mark.parametrize("name", sorted(names.PLACES))
def test_this_checkout_has_all_that_is_looked_for_in_checkouts(name: str) -> None:
    assert names.find(name) is not None


def test_the_samples_of_this_checkout_have_every_column() -> None:
    common = {"cluster", "tick", "at_ms"}
    cluster = Synthetic(3)
    # Without topic ids and times of records: older checkouts have none.
    newer = {"topic_id", "last_record_ms", "has_newer_records"}
    columns = set(names.find("PARTITIONS").names) - newer
    assert set(cluster.partitions(1)) | common == columns
    # Without what a silent coordinator reported earlier: there is none.
    assert set(cluster.group_rows(1)) | common | {"reported_at_ms"} == set(
        names.find("GROUPS").names
    )


def test_a_name_that_moved_is_found_at_its_old_place(monkeypatch: pytest.MonkeyPatch) -> None:
    places = ("monitoring not_yet there", "monitoring clock not_there", "monitoring clock now_ms")
    monkeypatch.setitem(names.PLACES, "Tick", places)
    assert names.find("Tick").__name__ == "now_ms"


def test_a_name_that_is_nowhere_says_where_to_add_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(names.PLACES, "Tick", ("monitoring not_there Tick",))
    with pytest.raises(LookupError, match="add its place to bench"):
        names.find("Tick")


def test_the_web_process_is_started_as_the_procfile_says() -> None:
    variables = {"AERIE_PORT": "4711", "PROXY_HEADERS": "--no-proxy-headers"}
    command = web_command((ROOT / "Procfile").read_text(), "/a b/python", variables)
    assert command[:4] == ["/a b/python", "-m", "uvicorn", "console.asgi:application"]
    assert command[command.index("--port") + 1] == "4711"


def test_the_number_of_a_tick_that_is_being_written_is_not_read() -> None:
    assert tick_times("ready\ntick 10 50000\na line\ntick 11 55") == {10: 50_000}


def test_a_page_says_what_a_browser_asks_for_at_a_tick() -> None:
    html = (
        '<div id="live" hx-ws:connect="/ws/c/x/?show=group:a&amp;seen=7.ok" hidden></div>'
        '<div hx-get="/c/x/topics?q=1&amp;page=2" hx-trigger="tick from:body"></div>'
        '<form hx-get="/c/x/topics" hx-trigger="input delay:250ms, submit"></form>'
        '<script id="new" type="application/json">'
        '{"step_ms": 185000, "series": [{"name": "a", "x": [5, 7], "y": [1, 2]}]}</script>\n    '
        '<div class="chart" data-chart="new" data-src="/c/x/group-lag?range=24h"></div>'
        '<div class="chart" data-chart="old" data-src="/c/x/group-lag?range=1h"></div>'
    )
    socket, tick_urls, (new, old) = live_parts(html)
    assert socket == "/ws/c/x/?show=group:a&seen=7.ok"
    assert tick_urls == ["/c/x/topics?q=1&page=2"]
    assert (new.url(), new.pause_s) == ("/c/x/group-lag?range=24h&since=7", 185)
    assert (old.url(), old.pause_s) == ("/c/x/group-lag?range=1h", CHART_PAUSE_S)


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [([3, 1, 2], 0.5, 2), (range(1, 101), 0.95, 95), (range(1, 31), 0.95, 29), ([7], 0.95, 7)],
)
def test_a_percentile_is_one_of_the_values(
    values: Sequence[float], share: float, found: float
) -> None:
    assert percentile(values, share) == found


def test_a_tick_is_pushed_when_the_first_message_after_it_comes() -> None:
    ticks = {1: 5000, 2: 10_000, 3: 15_000}
    assert push_delays_ms(ticks, [[5020, 5300, 10_100], [10_050]]) == [20, 100, 50]


def test_the_cost_of_a_page_counts_threads_that_have_ended() -> None:
    def work() -> None:
        begin = time.thread_time()
        while time.thread_time() - begin < 0.05:
            pass

    process = Process(os.getpid())
    before = process.precise_cpu_seconds()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert process.precise_cpu_seconds() - before >= 0.05


def test_each_page_has_its_figures_and_says_what_failed() -> None:
    visits = Visits({"topics": [10.0, 30.0, 20.0], "group": [5.0]}, {"topics": [1.0]})
    visits.fail("group", "the answer was 500")
    visits.fail("group", "the answer was 404")
    turn = pages.figures(pages.ALONE, visits, {})
    assert turn == {
        "alone-topics": Measured(30, 20),
        "alone-group": Measured(5, 5),
        "cpu-topics": Measured(1, 1),
        "alone-group failed": "the answer was 500",
    }
    found = Found()
    rounds.take(found, "alone-group", turn)
    assert (found.measured, found.problem) == ([Measured(5, 5)], "the answer was 500")


def test_browsers_without_messages_after_ticks_fail_their_row() -> None:
    visits = Visits({"topics": [10.0]}, arrivals_ms=[[], []])
    turn = pages.figures(pages.BESIDE, visits, {1: 5000, 2: 10_000})
    assert turn[f"beside-{PUSH} failed"] == "no browser got a message after a tick"


def test_a_console_that_does_not_start_fails_every_row() -> None:
    found = Found()
    rounds.take(found, "alone-topics", {"": "RuntimeError: it has no .venv"})
    assert found.problem == "RuntimeError: it has no .venv"


def test_every_load_has_a_row_for_each_page() -> None:
    keys = [page.key for page in pages.pages_of(Synthetic(1), 0)]
    rows = {row.key: row for row in pages.rows(["this", "beside"], keys)}
    for load in (pages.ALONE, pages.BESIDE, pages.CPU):
        assert {f"{load}-{key}" for key in keys} <= set(rows)
    assert all(row.less_is_better for row in rows.values())


def test_people_look_at_many_topics_and_groups() -> None:
    opened = pages.open_pages(Synthetic(1000), 50)
    assert len(opened) == 50
    assert {page.key for page in opened} == set(pages.LIVE)
    assert len({page.path for page in opened if page.key in ("topic", "group")}) > 10


def test_a_row_that_is_measured_again_takes_its_place(tmp_path: Path) -> None:
    report = Report(tmp_path, rounds=2, seconds=1)
    (row, *_others) = pages.rows(["this", "beside"], ["overview"])
    found = {"this": Found(), "beside": Found()}
    for p95 in (30.0, 50.0):
        for each in found.values():
            each.take(Measured(p95, 10))
        report.add(row, found)
    (line,) = [line for line in report.text.splitlines() if line.startswith("| overview")]
    assert "| 40.00 ms p95, 10.00 ms p50 | beside: 40.00 ms p95" in line
