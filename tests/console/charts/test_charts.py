"""The data of charts: who may load which, their lines, ranges and comparisons."""

import time
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from console.charts import views
from console.charts.history_circuit_breaker import SLOW_S, HistoryCircuitBreaker
from console.ui import times
from monitoring.history import append_ticks, written_range
from monitoring.history.levels import DAY_MS
from monitoring.history.root_folder import current
from monitoring.history.written_range import WrittenRange
from monitoring.ticks.tick_stream import put_tick
from tests.console.conftest import GROUPS, PARTITIONS, a_user, sample, tick_now
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick


@pytest.fixture(autouse=True)
def _history(tmp_path, settings):
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    append_ticks._changes_by_cluster.clear()


def loaded(client, **asked):
    return client.get("/c/local/chart?" + urlencode({"range": "15m"} | asked))


def values(line):
    return [y for y in line["y"] if y is not None]


def several(count=4, **of_row):
    first = tick_now() - count
    for number in range(count):
        ends = {"log_end_offset": 100 + 50 * number} | of_row
        rows = [row | ends for row in PARTITIONS if row["topic"] == "orders"]
        groups = [row | {"log_end_offset": 100 + 50 * number} for row in GROUPS]
        sample(number=first + number, partitions=rows, groups=groups)


def test_the_lag_of_a_group_is_the_sum_over_its_partitions(
    clusters, redis_server, client_of, admin
):
    several()
    spec = loaded(client_of(admin), of="group", group="billing", show="lag").json()
    [line] = spec["series"]
    assert line["name"] == "orders"
    assert values(line) == [80, 180, 280, 380]
    assert spec["unit"] == "records"


def test_what_is_stored_and_what_is_live_are_one_line(clusters, redis_server, client_of, admin):
    several()
    live = loaded(client_of(admin), of="topic", topic="orders", show="records").json()
    append_ticks.flush(current(), "local")
    stored = loaded(client_of(admin), of="topic", topic="orders", show="records").json()
    assert [values(line) for line in stored["series"]] == [values(line) for line in live["series"]]
    assert values(stored["series"][0])[0] > 0


def test_a_single_line_has_its_lowest_and_highest_values(clusters, redis_server, client_of, admin):
    several()
    [line] = loaded(client_of(admin), of="group", group="billing", show="lag").json()["series"]
    assert len(line["low"]) == len(line["high"]) == len(line["y"]) == len(line["x"])


def peak_of_one_tick(topics=("orders", "payments"), first=None):
    """Every topic gets 50 records in each tick; the last one gets 50,000 in one of them."""
    first = tick_now() - 8 if first is None else first
    ends = dict.fromkeys(topics, 0)
    made = []
    for number in range(8):
        for topic in topics:
            ends[topic] += 50_000 if (topic, number) == (topics[-1], 4) else 50
        rows = [PARTITIONS[0] | {"topic": t, "log_end_offset": end} for t, end in ends.items()]
        groups = [
            GROUPS[0] | {"topic": t, "log_end_offset": end, "committed_offset": end // 2}
            for t, end in ends.items()
        ]
        made.append(make_tick(first + number, partitions=rows, groups=groups))
    return made


PEAK = 50_000 / (INTERVAL_MS / 1000)


def highest(line):
    return max(y for y in line["high"] if y is not None)


@pytest.mark.parametrize(("asked", "peaks"), [
    ({"of": "cluster", "show": "records"}, [PEAK, PEAK / 2]),
    ({"of": "topic", "topic": "orders", "show": "records", "with": "payments"}, [10, PEAK]),
    ({"of": "topic", "topic": "payments", "show": "records", "compare": "yesterday"}, [PEAK] * 2),
    ({"of": "group", "group": "billing", "show": "records"}, [PEAK + 10, PEAK / 2]),
])  # fmt: skip
def test_a_peak_of_one_tick_is_seen_over_ninety_days_in_each_line(
    asked, peaks, clusters, redis_server, client_of, admin
):
    a_day_before = tick_now() - 8 - DAY_MS // INTERVAL_MS
    append_ticks.append(current(), "local", peak_of_one_tick(first=a_day_before))
    for tick in peak_of_one_tick():
        put_tick(tick)
    shown = loaded(client_of(admin), **asked, range="90d").json()["series"]
    assert [highest(line) for line in shown] == pytest.approx(peaks, rel=0.01)
    assert all(max(values(line)) < highest(line) for line in shown if highest(line) > 100)


def test_the_highest_of_a_sum_says_that_it_is_one(clusters, redis_server, client_of, admin):
    for tick in peak_of_one_tick():
        put_tick(tick)
    asked = {"of": "group", "group": "billing", "show": "records"}
    produced, consumed = loaded(client_of(admin), **asked, range="90d").json()["series"]
    assert (produced["is_sum"], "is_sum" in consumed) == (True, False)


def test_yesterday_is_a_second_line_at_the_times_of_today(clusters, redis_server, client_of, admin):
    number = tick_now() - 3
    a_day = DAY_MS // INTERVAL_MS
    append_ticks.append(current(), "local", [
        make_tick(number - a_day + n, groups=[row | {"log_end_offset": 70} for row in GROUPS])
        for n in range(3)
    ])  # fmt: skip
    several(3)
    asked = {"of": "group", "group": "billing", "show": "lag", "compare": "yesterday"}
    today, earlier = loaded(client_of(admin), **asked).json()["series"]
    assert (earlier["name"], earlier["is_earlier"]) == ("orders, a day before", True)
    assert earlier["name_now"] == today["name"]
    assert values(earlier) == [20, 20, 20]
    assert abs(max(earlier["x"]) - max(today["x"])) <= INTERVAL_MS


def test_a_group_with_a_topic_that_the_user_does_not_see_has_no_sum(
    clusters, redis_server, client_of, viewer, admin
):
    several()
    asked = {"of": "group", "group": "auditors", "show": "lag"}
    assert loaded(client_of(viewer), **asked).json()["series"] == []
    [line] = loaded(client_of(admin), **asked).json()["series"]
    assert line["name"] == "console.audit"


def test_the_sum_of_a_group_is_made_of_the_topics_that_the_user_sees(
    clusters, redis_server, client_of, admin
):
    topics = {"orders": 5, "payments": 7, "salaries": 1000}
    groups = [
        GROUPS[0] | {"topic": topic, "partition": 0, "committed_offset": 0, "log_end_offset": lag}
        for topic, lag in topics.items()
    ]
    for number in range(tick_now() - 3, tick_now()):
        sample("local", number, groups=groups)
    scoped = a_user("scoped", "viewer", topics=["orders", "payments"], groups=["billing"])
    asked = {"of": "group", "group": "billing", "show": "lag"}
    for stored in (False, True):  # from Redis, and from files
        if stored:
            append_ticks.flush(current(), "local")
        shown = loaded(client_of(scoped), **asked).json()["series"]
        assert {line["name"]: set(values(line)) for line in shown} == {
            "the topics that you see": {12}, "orders": {5}, "payments": {7},
        }  # fmt: skip
        whole, *_ = loaded(client_of(admin), **asked).json()["series"]
        assert (whole["name"], set(values(whole))) == ("all topics", {1012})


def test_a_group_whose_coordinator_did_not_answer_says_for_how_long(
    clusters, redis_server, client_of, admin
):
    silent = {"reported_at_ms": 40, "log_end_offset": None}
    first = tick_now() - 6
    for number in range(6):
        groups = [row | (silent if number in (2, 3) else {}) for row in GROUPS]
        sample(number=first + number, groups=groups)
    scoped = a_user("scoped", "viewer", topics=["orders"], groups=["billing"])
    for user in (admin, scoped):
        for show in ("lag", "records"):
            spec = loaded(client_of(user), of="group", group="billing", show=show).json()
            [gap] = spec["gaps"]
            assert gap["text"] == "No answer for 10 s: lag and offsets were not known then."
            assert gap["to_ms"] - gap["from_ms"] == 2 * INTERVAL_MS
    assert (
        loaded(client_of(admin), of="group", group="billing", show="lag", range="24h")
        .json()["gaps"][0]["text"]
        .startswith("No answer for 10 s")
    )


def test_another_topic_is_a_line_of_the_chart(clusters, redis_server, client_of, admin):
    first = tick_now() - 3
    for number in range(3):
        rows = [
            PARTITIONS[0] | {"topic": topic, "partition": 0, "log_end_offset": rate * number}
            for topic, rate in (("orders", 10), ("payments", 30))
        ]
        sample(number=first + number, partitions=rows)
    asked = {"of": "topic", "topic": "orders", "show": "records"}
    own, other = loaded(client_of(admin), **asked, **{"with": "payments"}).json()["series"]
    assert (own["name"], "is_other" in own) == ("produced", False)
    assert (other["name"], other["is_other"]) == ("payments", True)
    assert values(other) == [3 * rate for rate in values(own)]
    asked["partition"] = 0
    _own, other = loaded(client_of(admin), **asked, **{"with": "payments/0"}).json()["series"]
    assert other["name"] == "payments/0"
    asked = {"of": "group", "group": "billing", "show": "lag"}
    names = [
        line["name"]
        for line in loaded(client_of(admin), **asked, **{"with": "auditors"}).json()["series"]
    ]
    assert names[-1] == "auditors"


def test_another_topic_that_the_user_may_not_see_is_not_found(sampled, client_of, viewer):
    asked = {"of": "topic", "topic": "orders", "show": "records", "with": "console.audit"}
    assert loaded(client_of(viewer), **asked).status_code == 404
    page = client_of(viewer).get("/c/local/topics/orders?with=console.audit").content.decode()
    assert "There is no topic “console.audit”." in page
    assert "with=console.audit" not in page.split("chart-grid")[1]


def test_the_other_subject_of_a_page_is_that_of_its_url(sampled, client_of, admin):
    client = client_of(admin)
    page = client.get("/c/local/topics/orders?with=console.audit&range=6h").content.decode()
    assert page.count("with=console.audit") >= 10  # the charts, ranges and comparisons
    assert '<option value="console.audit">' in page
    for url, text in {
        "topics/orders?with=nothing": "There is no topic “nothing”.",
        "groups/billing?with=nothing": "The last sample has no group “nothing”.",
        "brokers/1?with=x": "Enter the id of a broker.",
        "brokers/1?with=77": "This cluster has no broker 77.",
        "topics/orders/partitions/0/segments?with=x": "Enter a topic and a partition",
        "topics/orders/partitions/0/segments?with=orders/77": "This topic has no partition 77.",
    }.items():
        assert text in client.get(f"/c/local/{url}").content.decode()


def test_what_a_group_consumes_is_beside_what_its_topics_get(
    clusters, redis_server, client_of, admin
):
    first = tick_now() - 3
    for number in range(3):
        of_topic = PARTITIONS[0] | {"topic": "orders", "partition": 0}
        of_group = GROUPS[0] | {"topic": "orders", "partition": 0}
        sample(
            number=first + number,
            partitions=[of_topic | {"log_end_offset": 100 * number}],
            groups=[of_group | {"committed_offset": 50 * number, "log_end_offset": 100 * number}],
        )
    asked = {"of": "group", "group": "billing", "show": "records"}
    produced, consumed = loaded(client_of(admin), **asked).json()["series"]
    assert (produced["name"], consumed["name"]) == ("produced", "consumed")
    assert values(consumed)[-1] * 2 == values(produced)[-1] > 0
    scoped = a_user("scoped", "viewer", topics=["orders"], groups=["billing"])
    shown = loaded(client_of(scoped), **asked).json()["series"]
    assert [values(line) for line in shown] == [values(produced), values(consumed)]


def test_a_broker_with_two_log_directories_has_a_line_for_each(
    clusters, redis_server, client_of, admin
):
    dirs = [
        {"path": path, "total_bytes": 100, "free_bytes": free, "size_bytes": 100 - free}
        for path, free in (("/disk/a", 60), ("/disk/b", 20))
    ]
    broker = {"id": 1, "host": "b1", "port": 9092, "rack": None, "up": True, "log_dirs": dirs}
    for number in range(tick_now() - 3, tick_now()):
        put_tick(replace(make_tick(number), brokers=[broker]))
    append_ticks.flush(current(), "local")
    shown = loaded(client_of(admin), of="broker", broker=1, show="disk").json()["series"]
    assert {line["name"]: set(values(line)) for line in shown} == {"/disk/a": {60}, "/disk/b": {20}}


def test_a_hidden_topic_has_no_chart(sampled, client_of, viewer, admin):
    asked = {"of": "topic", "topic": "console.audit", "show": "records"}
    assert loaded(client_of(viewer), **asked).status_code == 404
    assert loaded(client_of(admin), **asked).status_code == 200


def test_a_topic_that_is_not_there_has_a_chart_without_lines(sampled, client_of, viewer):
    answer = loaded(client_of(viewer), of="topic", topic="nothing", show="records")
    assert (answer.status_code, answer.json()["series"]) == (200, [])


@pytest.mark.parametrize(("asked", "text"), [
    ({}, "of is one of cluster, topic, group, broker"),
    ({"of": "group"}, "show is one of lag, records"),
    ({"of": "group", "show": "size"}, "show is one of lag, records"),
    ({"of": "group", "show": "lag", "range": "9y"}, "range is one of 15m, 1h, 6h, 24h, 7d, 30d"),
    ({"of": "group", "show": "lag", "compare": "ever"}, "compare is one of yesterday, week"),
    ({"of": "broker", "show": "cpu"}, "broker is a number"),
    ({"of": "cluster", "show": "lag", "width": "wide"}, "width is a number"),
    ({"of": "cluster", "show": "lag", "with": "other"}, "with is for charts of topics, groups"),
    ({"of": "broker", "show": "cpu", "broker": "1", "with": "x"}, "with is a number"),
    ({"of": "topic", "show": "size", "topic": "a", "partition": "-1"}, "partition is a number"),
])  # fmt: skip
def test_an_unknown_parameter_is_refused_with_the_values_there_are(
    asked, text, sampled, client_of, viewer
):
    answer = loaded(client_of(viewer), **asked)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(text)


def test_without_redis_the_stored_values_are_drawn(clusters, redis_server, client_of, admin):
    several()
    client = client_of(admin)
    append_ticks.flush(current(), "local")
    redis_server.kill()
    spec = loaded(client, of="topic", topic="orders", show="records").json()
    assert len(values(spec["series"][0])) == 3


def test_a_chart_says_which_time_was_written_and_not_sampled(sampled, client_of, viewer):
    asked = {"of": "topic", "topic": "orders", "show": "records"}
    now_ms = time.time() * 1000
    client = client_of(viewer)
    assert loaded(client, **asked).json()["written"] == ""
    end_ms = int(now_ms) - DAY_MS
    written_range.store(current(), "local", WrittenRange(0, end_ms, "recorded"))
    assert loaded(client, **asked).json()["written"] == ""
    note = f"From {times.moment(0)} to {times.moment(end_ms)} the history was written by a tool"
    for longer in ({"range": "7d"}, {"compare": "week"}):
        assert loaded(client, **asked | longer).json()["written"].startswith(note)


def test_a_history_that_cannot_be_read_is_an_error_with_its_cause(
    clusters, redis_server, client_of, admin, settings, tmp_path
):
    (tmp_path / "file").write_text("")
    settings.HISTORY_URL = f"file://{tmp_path}/file"
    answer = loaded(client_of(admin), of="topic", topic="orders", show="records")
    assert answer.status_code in (200, 503)
    assert "Traceback" not in answer.content.decode()


def test_while_the_store_of_the_history_hangs_a_chart_says_so_at_once(
    sampled, client_of, viewer, monkeypatch
):
    breaker = HistoryCircuitBreaker()
    now_s = time.monotonic()
    breaker.add_failure(now_s - SLOW_S, now_s)
    monkeypatch.setattr(views, "_circuit_breaker", breaker)
    answer = loaded(client_of(viewer), of="topic", topic="orders", show="records")
    assert answer.status_code == 503
    assert "cannot be read" in answer.json()["error"]


def test_the_range_and_the_comparison_of_a_page_are_those_of_its_url(sampled, client_of, viewer):
    page = client_of(viewer).get("/c/local/topics/orders?range=7d&compare=week").content.decode()
    assert page.count("range=7d&amp;compare=week") >= 3
    assert 'aria-current="true">7d' in page
    page = client_of(viewer).get("/c/local/topics/orders?range=x&compare=y").content.decode()
    assert 'aria-current="true">1h' in page


def test_charts_of_ninety_days_do_not_reach_before_the_epoch(sampled, client_of, viewer):
    spec = loaded(client_of(viewer), of="group", group="billing", show="lag", range="90d").json()
    assert spec["from_ms"] == pytest.approx(time.time() * 1000 - 90 * DAY_MS, abs=60_000)


@pytest.mark.parametrize(("width", "points"), [
    (320, range(300, 600)), (960, range(601, 1920)), (None, range(300, 600)),
    (1, range(300, 401)), (99_999, range(601, 2001)), ("", range(300, 600)),
])  # fmt: skip
def test_a_chart_has_at_most_two_points_a_pixel(
    width, points, clusters, redis_server, client_of, admin
):
    several()
    asked = {"of": "group", "group": "billing", "show": "lag", "range": "90d"}
    asked |= {} if width is None else {"width": width}
    [line] = loaded(client_of(admin), **asked).json()["series"]
    assert len(line["x"]) in points


@pytest.mark.parametrize(
    ("admin_urls", "expected"),
    [({}, 4), ({"1": "http://127.0.0.1:1"}, 0), ({"2": "http://127.0.0.1:1"}, 4)],
)
def test_an_empty_chart_without_a_source_says_what_to_set(
    sampled, client_of, viewer, admin_urls, expected
):
    cluster, _other = sampled
    cluster.admin_urls = admin_urls
    cluster.save()
    page = client_of(viewer).get("/c/local/brokers/1").content.decode()
    assert page.count("No source: an admin can set the addresses") == expected
    assert page.count('class="chart"') == 6
    page = client_of(viewer).get("/c/local/topics/orders").content.decode()
    assert ("No source" in page) == (not admin_urls)
