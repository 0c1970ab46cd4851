import pytest
from django.urls import reverse

from console.accounts.rights import Rights
from console.groups import history
from monitoring.history.root import current
from monitoring.history.writer import flush
from monitoring.scope import Scope
from monitoring.ticks import tick_stream
from tests.console.conftest import GROUPS, PUBLIC, sample, sample_next, tick_now


def test_the_list_begins_with_the_most_lag(sampled, client_of, admin):
    page = client_of(admin).get("/c/local/groups").content.decode()
    assert page.index("auditors") < page.index("billing")


def test_the_detail_names_the_member_that_owns_each_partition(sampled, client_of, viewer):
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    assert page.count("billing-app") >= 3
    assert "/10.0.0.7" in page
    assert "show=group:billing" in page


def test_a_group_may_have_a_slash_and_a_space_in_its_name(sampled, client_of, viewer):
    sample_next(groups=[GROUPS[0] | {"group": "team a/billing?"}])
    client = client_of(viewer)
    page = client.get("/c/local/groups").content.decode()
    assert 'href="/c/local/groups/team%20a~2Fbilling%3F"' in page
    for path in ("team%20a~2Fbilling%3F", "team%20a/billing%3F", "team%20a%2Fbilling%3F"):
        detail = client.get(f"/c/local/groups/{path}")
        assert detail.status_code == 200
        assert "show=group:team%2520a%252Fbilling%253F&amp;" in detail.content.decode()


@pytest.mark.parametrize("name", ["two\nlines", "<b>", "%2F", "ü?x#y", " "])
def test_any_text_may_be_the_name_of_a_group(sampled, client_of, viewer, name):
    sample_next(groups=[GROUPS[0] | {"group": name}])
    client = client_of(viewer)
    for page in ("/c/local/groups", "/c/local/", "/c/local/topics/orders/consumers"):
        assert client.get(page).status_code == 200, page
    assert client.get(reverse("group", args=["local", name])).status_code == 200


def test_missing_commits_are_shown_as_none_and_not_as_zero(sampled, client_of, viewer):
    row = GROUPS[0] | {"committed_offset": None, "lag": None}
    sample_next(groups=[row])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    assert "nothing committed" in page


def test_no_page_shows_a_plain_0_for_commits_beyond_the_end_offset(sampled, client_of, viewer):
    ahead = GROUPS[0] | {"committed_offset": 590, "log_end_offset": 100, "lag": -490}
    sample_next(groups=[ahead])
    client = client_of(viewer)
    for path in ("", "groups", "groups/billing", "topics/orders/consumers"):
        page = client.get(f"/c/local/{path}").content.decode()
        assert "1 partition ahead by 490" in page, path
    page = client.get("/c/local/groups/billing").content.decode()
    assert ">-490<" in page, "as Kafka's tools show it"
    assert page.count("1 partition ahead by 490") == 3, "the group, its member, its topic"


def test_the_chart_contains_the_live_ticks_and_gaps(redis_server):
    first = tick_now() - 4
    for step in (0, 1, 3):
        sample(number=first + step, groups=[GROUPS[0] | {"committed_offset": 100 - step}])
    now_ms = (first + 4) * tick_stream.interval_ms()
    rights = Rights("local", "viewer")
    spec = history.lag_chart("local", "billing", rights, 4 * tick_stream.interval_ms(), now_ms)
    assert [line["name"] for line in spec["series"]] == ["orders"]
    assert spec["series"][0]["y"] == [0, 1, None, 3, None]


def test_of_the_live_ticks_only_those_are_read_that_are_not_stored_yet(
    redis_server, settings, tmp_path, monkeypatch
):
    settings.HISTORY_URL = str(tmp_path)
    first = tick_now() - 20
    for step in range(18):
        sample(number=first + step, groups=[GROUPS[0] | {"committed_offset": 100 - step}])
    flush(current(), "local")
    for step in (18, 19):
        sample(number=first + step, groups=[GROUPS[0] | {"committed_offset": 100 - step}])
    decoded = []
    decode = tick_stream.decode
    monkeypatch.setattr(tick_stream, "decode", lambda fields: decoded.append(1) or decode(fields))
    now_ms, range_ms = (first + 20) * tick_stream.interval_ms(), 20 * tick_stream.interval_ms()
    rights = Rights("local", "viewer")
    spec = history.lag_chart("local", "billing", rights, range_ms, now_ms)
    assert spec["series"][0]["y"] == [*range(20), None]
    assert history.lag_chart("local", "nobody", rights, range_ms, now_ms)["series"] == []
    assert len(decoded) <= 2 * 4


def _ticks_of_a_group(count, change=lambda step: {}):
    first = tick_now() - count
    for step in range(count):
        sample(number=first + step, groups=[GROUPS[0] | change(step)])
    return first, tick_stream.interval_ms()


def test_an_open_chart_is_reported_only_what_is_newer_and_without_the_stored_history(
    redis_server, settings, tmp_path, monkeypatch
):
    settings.HISTORY_URL = str(tmp_path)
    first, interval = _ticks_of_a_group(20, lambda step: {"committed_offset": 100 - step})
    now_ms, range_ms = (first + 19) * interval, 900_000
    rights = Rights("local", "viewer")
    whole = history.lag_chart("local", "billing", rights, range_ms, now_ms)
    monkeypatch.setattr(history, "read", None)
    since_ms = (first + 15) * interval
    newer = history.newer_points("local", "billing", rights, range_ms, now_ms, since_ms)
    assert newer["step_ms"] == whole["step_ms"]
    assert newer["from_ms"] == whole["series"][0]["x"][0]
    total, orders = newer["series"]
    assert orders["name"] == "orders"
    assert total["x"] == orders["x"] == whole["series"][0]["x"][-5:]
    assert total["y"] == orders["y"] == whole["series"][0]["y"][-5:] == [15, 16, 17, 18, 19]


@pytest.mark.parametrize("steps_ago", [15, 10_000, -5])
def test_a_chart_is_sent_completely_where_the_live_window_does_not_go_back_so_far(
    redis_server, steps_ago
):
    first, interval = _ticks_of_a_group(10)
    now_ms = (first + 9) * interval
    since_ms = now_ms - steps_ago * interval
    rights = Rights("local", "viewer")
    assert history.newer_points("local", "billing", rights, 900_000, now_ms, since_ms) is None


def test_a_chart_is_sent_completely_where_nothing_is_known_of_a_topic(redis_server):
    unknown = {"log_end_offset": None, "lag": None}
    first, interval = _ticks_of_a_group(10, lambda step: unknown if step > 5 else {})
    now_ms, rights = (first + 9) * interval, Rights("local", "viewer")
    told = [
        history.newer_points("local", "billing", rights, 900_000, now_ms, (first + n) * interval)
        for n in (4, 7)
    ]
    assert told[0]["series"][0]["y"] == [40, 40, None, None, None, None]
    assert told[1] is None


def test_the_page_is_answered_what_is_newer_or_all(sampled, client_of, viewer):
    client = client_of(viewer)
    url = "/c/local/group-lag?range=15m&group=billing"
    whole = client.get(url).json()
    last = whole["series"][0]["x"][-1]
    assert "kind" not in client.get(f"{url}&since={last}").json()
    for since in ("", "x", "1", "9" * 30, "-1"):
        assert client.get(f"{url}&since={since}").json()["kind"] == "line", since


def test_the_chart_leaves_out_what_the_rights_hide(redis_server):
    number = sample()
    now_ms = (number + 1) * tick_stream.interval_ms()
    spec = history.lag_chart("local", "auditors", Rights("local", "viewer", PUBLIC), 60_000, now_ms)
    assert spec["series"] == []
    spec = history.lag_chart("local", "auditors", Rights("local", "admin"), 60_000, now_ms)
    assert spec["series"][0]["name"] == "console.audit"


def test_what_is_newer_is_only_of_groups_that_the_rights_show(redis_server):
    number = sample()
    interval = tick_stream.interval_ms()
    told = {}
    for groups in (("*",), ("bill*",), ("other*",)):
        rights = Rights("local", "viewer", Scope(groups=groups))
        now_ms, since_ms = (number + 1) * interval, number * interval
        told[groups] = history.newer_points("local", "billing", rights, 900_000, now_ms, since_ms)
    assert told[("*",)] is not None
    assert told[("*",)] == told[("bill*",)]
    assert told[("other*",)] is None


def test_a_long_range_keeps_its_peaks_in_few_points():
    sums = {"orders": {tick: (9999 if tick == 777 else 1) for tick in range(10_000)}}
    spec = history.chart(sums, 0, 9_999, 5000)
    line = spec["series"][0]
    assert len(line["y"]) <= history.POINTS_MAX
    assert max(line["y"]) == 9999


def test_several_topics_have_a_line_each_and_one_for_all():
    spec = history.chart({"a": {1: 5}, "b": {1: 7, 2: 1}}, 1, 2, 5000)
    assert [(line["name"], line["y"]) for line in spec["series"]] == [
        ("all topics", [12, 1]),
        ("b", [7, 1]),
        ("a", [5, None]),
    ]


def test_an_unknown_range_is_refused(sampled, client_of, viewer):
    response = client_of(viewer).get("/c/local/group-lag?range=9y&group=billing")
    assert response.status_code == 400
    assert "range is one of" in response.json()["error"]


def test_a_part_that_is_not_known_is_a_gap_in_the_line_and_no_dip():
    sums = {"a": {1: 5, 2: None, 3: 6}, "b": {1: 1, 2: 1, 3: 1}, "gone": {1: None, 3: None}}
    spec = history.chart(sums, 1, 3, 5000)
    assert [(line["name"], line["y"]) for line in spec["series"]] == [
        ("all topics", [6, None, 7]),
        ("a", [5, None, 6]),
        ("b", [1, 1, 1]),
    ]


def test_a_partition_whose_end_is_not_known_makes_a_gap(redis_server):
    first = tick_now() - 2
    ends = ({"log_end_offset": 100}, {"log_end_offset": None, "lag": None}, {})
    for step, change in enumerate(ends):
        sample(number=first + step, groups=[GROUPS[0], GROUPS[1] | change])
    now_ms = (first + 2) * tick_stream.interval_ms()
    rights = Rights("local", "viewer")
    spec = history.lag_chart("local", "billing", rights, 2 * tick_stream.interval_ms(), now_ms)
    assert spec["series"][0]["y"] == [80, None, 80]


def test_sums_of_members_and_topics_say_that_a_part_is_not_known(sampled, client_of, viewer):
    sample_next(groups=[GROUPS[0], GROUPS[1] | {"log_end_offset": None, "lag": None}])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    told = '<span class="at-least" title="1 of 2 partitions is not known.">≥ 40</span>'
    assert page.count(told) == 2


def test_a_group_whose_coordinator_is_silent_stays_with_its_age_and_no_lag(
    sampled, client_of, viewer
):
    row = GROUPS[0] | {"log_end_offset": None, "lag": None, "told_at_ms": 1_000_000}
    sample_next(groups=[row], groups_complete=False)
    client = client_of(viewer)
    for path in ("/c/local/groups", "/c/local/groups/billing", "/c/local/"):
        page = client.get(path).content.decode()
        assert "coordinator not available since" in page.lower()
        assert "1970-01-01 00:16:40 UTC" in page
    assert "Degraded" in page


def test_of_many_members_topics_and_partitions_the_page_names_the_first_and_says_how_many_more(
    sampled, client_of, viewer
):
    changed = (
        {"topic": f"t-{n:04}", "member_id": f"m-{n:04}", "client_id": f"app-{n:04}"}
        for n in range(508)
    )
    sample_next(groups=[GROUPS[0] | change for change in changed])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    for more in ("members are not shown here.", "topics", "partitions are not shown here."):
        assert f"8 more {more}" in page
    assert ("m-0499" in page, "m-0500" in page) == (True, False)
    assert ("t-0499" in page, "t-0500" in page) == (True, False)


def test_a_chart_sums_the_partitions_of_a_tick_be_it_live_or_stored(
    redis_server, settings, tmp_path
):
    settings.HISTORY_URL = str(tmp_path)
    first = tick_now() - 4
    rows = [GROUPS[0], GROUPS[1] | {"committed_offset": 130}]
    for number in (first, first + 1):
        sample(number=number, groups=rows)
    flush(current(), "local")
    sample(number=first + 2, groups=rows)
    now_ms, rights = (first + 3) * tick_stream.interval_ms(), Rights("local", "viewer")
    spec = history.lag_chart("local", "billing", rights, 3 * tick_stream.interval_ms(), now_ms)
    assert spec["series"][0]["y"] == [40, 40, 40, None]
