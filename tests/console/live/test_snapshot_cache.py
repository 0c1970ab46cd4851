import threading
import time
import weakref

import pytest

from console.accounts.rights import Rights
from console.live import fragment_renderer, snapshot_cache
from monitoring.error_reason import Reason
from monitoring.models import Cluster
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import Scope
from monitoring.ticks import tick_stream
from tests.console.conftest import BROKERS, PARTITIONS, PUBLIC, sample, tick_now

VIEWER, ADMIN = Rights("local", "viewer", PUBLIC), Rights("local", "admin")


def test_before_the_first_tick_there_is_no_snapshot(redis_server):
    assert snapshot_cache.sample_status("local").state == "none"
    assert snapshot_cache.snapshot("local", VIEWER) is None


def test_a_snapshot_depends_on_the_rights(redis_server):
    sample()
    names = {row.name for row in snapshot_cache.snapshot("local", VIEWER).topics}
    assert names == {"orders", "__consumer_offsets"}
    assert "console.audit" in {row.name for row in snapshot_cache.snapshot("local", ADMIN).topics}
    assert snapshot_cache.sample_status("local").state == "ok"


def test_a_gap_keeps_the_last_good_figures_and_says_why(redis_server):
    number = sample(number=tick_now() - 1)
    sample(number=number + 1, status="gap", reason="No broker answers.", partitions=[], groups=[])
    status = snapshot_cache.sample_status("local")
    assert (status.state, status.reason) == ("gap", "No broker answers.")
    assert status.at_ms == number * 5000 + 40
    assert snapshot_cache.snapshot("local", VIEWER).topic("orders") is not None


def test_the_last_good_tick_is_found_behind_many_gaps(redis_server):
    first = tick_now() - 100
    sample(number=first)
    for number in range(first + 1, first + 100):
        sample(number=number, status="gap", reason="down", partitions=[], groups=[])
    assert snapshot_cache.snapshot("local", VIEWER).tick.tick == first


def test_the_status_is_stale_when_ticks_stop(redis_server):
    sample(number=tick_now() - 20)
    assert snapshot_cache.sample_status("local").state == "stale"


def test_without_redis_the_figures_stay_and_the_status_says_so(redis_server):
    sample()
    assert snapshot_cache.snapshot("local", VIEWER) is not None
    redis_server.kill()
    snapshot_cache.refresh("local")
    assert snapshot_cache.sample_status("local").state == "unreadable"
    assert snapshot_cache.snapshot("local", VIEWER).topic("orders") is not None
    redis_server.start()
    snapshot_cache.refresh("local")
    assert snapshot_cache.sample_status("local").state in ("ok", "none")


def test_a_tick_is_read_once_for_all(redis_server):
    sample()
    assert snapshot_cache.snapshot("local", VIEWER) is snapshot_cache.snapshot(
        "local", Rights("local", "operator", PUBLIC)
    )


def test_the_history_has_a_point_for_each_tick_and_none_for_a_gap(redis_server):
    first = tick_now() - 3
    for step in range(3):
        rows = [row | {"log_end_offset": 100 + step * 50} for row in PARTITIONS]
        sample(number=first + step, partitions=rows)
    sample(number=first + 3, status="gap", reason="down", partitions=[], groups=[])
    points = snapshot_cache.recent_totals("local", ADMIN)
    assert [point and point.messages_rate.value_if_complete for point in points] == [
        None,
        40.0,
        40.0,
        None,
    ]


def test_new_ticks_are_added_to_the_history(redis_server):
    first = tick_now() - 3
    sample(number=first)
    snapshot_cache.snapshot("local", ADMIN)
    for number in (first + 1, first + 2, first + 3):
        sample(number=number)
    snapshot_cache.refresh("local")
    assert snapshot_cache.snapshot("local", ADMIN).tick.tick == first + 3
    assert len(snapshot_cache.recent_totals("local", ADMIN)) == 4


def test_an_announced_tick_is_read_on_the_first_refresh(redis_server, monkeypatch):
    number = sample(number=tick_now() - 2)
    snapshot_cache.snapshot("local", VIEWER)
    asked = []
    ticks_after = tick_stream.ticks_after

    def counted(*arguments):
        asked.append(arguments)
        return ticks_after(*arguments)

    monkeypatch.setattr(snapshot_cache.tick_stream, "ticks_after", counted)
    monkeypatch.setattr(
        snapshot_cache.tick_stream, "latest_tick", lambda slug: pytest.fail("read as a whole")
    )
    sample(number=number + 1)
    for _socket in range(3):
        snapshot_cache.refresh("local", announced_tick=number + 1)
    assert len(asked) == 1
    assert snapshot_cache.snapshot("local", VIEWER).tick.tick == number + 1


def test_a_check_without_new_ticks_reads_no_tick(redis_server, monkeypatch):
    sample()
    snapshot_cache.snapshot("local", VIEWER)
    monkeypatch.setattr(tick_stream, "decode", lambda fields: pytest.fail("read as a whole"))
    snapshot_cache.refresh("local")
    assert snapshot_cache.sample_status("local").state == "ok"


def test_after_a_long_pause_only_the_ticks_of_the_sparkline_are_read(redis_server, monkeypatch):
    monkeypatch.setattr(snapshot_cache, "SPARKLINE_POINTS_MAX", 3)
    first = tick_now() - 9
    for number in range(first, first + 9):
        sample(number=number)
        if number == first:
            snapshot_cache.snapshot("local", VIEWER)
    taken = []
    recent_ticks = tick_stream.recent_ticks

    def noted(slug, since_ms):
        for tick in recent_ticks(slug, since_ms):
            taken.append(tick.tick)
            yield tick

    monkeypatch.setattr(tick_stream, "recent_ticks", noted)
    snapshot_cache.refresh("local")
    assert taken == list(range(first + 5, first + 9))


def test_clusters_do_not_mix(redis_server):
    sample("local")
    sample("staging", partitions=[], groups=[])
    assert snapshot_cache.snapshot("staging", ADMIN).topics == []
    assert snapshot_cache.snapshot("local", ADMIN).topics


def test_a_problem_is_reported_with_its_start_time(redis_server):
    dead = PARTITIONS[0] | {"leader": -1, "log_end_offset": None}
    hidden = PARTITIONS[2] | {"leader": -1}
    gone = {"id": 2, "host": "h", "port": 1, "up": False, "down_since_ms": 30}
    sample(
        partitions=[dead, hidden, PARTITIONS[1]],
        brokers=[*BROKERS, gone],
        since={"leaderless": 50, "zookeeper": 60},
    )
    status = snapshot_cache.sample_status("local", ADMIN)
    assert (status.state, status.since_ms) == ("partial", 30)
    told = status.outages
    assert (told.leaderless, told.partitions, told.leaderless_since_ms) == (2, 3, 50)
    assert [broker.id for broker in told.brokers_down] == [2]
    assert told.zookeeper_since_ms == 60
    assert (
        snapshot_cache.sample_status("local", VIEWER).outages.leaderless == 1
    )  # the hidden topic is not told


def test_invalid_values_are_reported_to_users_who_see_every_topic(redis_server, db):
    sample(invalid=["topic secret: partition 7, though it has <1>"])
    status = snapshot_cache.sample_status("local", ADMIN)
    assert status.state == "partial"
    banner = fragment_renderer.status_html(Cluster(slug="local"), ADMIN)
    assert "are invalid and are not shown" in banner
    assert "topic secret: partition 7, though it has &lt;1&gt;" in banner
    hidden = fragment_renderer.status_html(Cluster(slug="local"), VIEWER)
    assert "are invalid and are not shown" in hidden
    assert "secret" not in hidden


def test_partitions_of_a_broker_that_is_down_are_not_said_to_work(redis_server, db):
    sample(brokers=[BROKERS[0] | {"up": False, "down_since_ms": 30}])
    led = sum(row["leader"] == BROKERS[0]["id"] for row in PARTITIONS)
    assert snapshot_cache.sample_status("local", ADMIN).outages.led_by_brokers_down == led
    banner = fragment_renderer.status_html(Cluster(slug="local"), ADMIN)
    assert f"{led} partitions, whose leader does not answer" in banner
    assert "Every partition has a leader" not in banner


def test_a_partial_sum_is_a_gap_in_the_sparkline(redis_server):
    first = tick_now() - 2
    for step, end in enumerate((100, 150, None)):
        rows = [row | {"log_end_offset": 100 + step * 50} for row in PARTITIONS]
        sample(number=first + step, partitions=[rows[0] | {"log_end_offset": end}, *rows[1:]])
    last = snapshot_cache.recent_totals("local", ADMIN)[-1].messages_rate
    assert (last.value, last.value_if_complete) == (30.0, None)


def test_a_sample_that_is_two_intervals_late_is_stale(redis_server):
    at = tick_now() - 3
    sample(number=at)
    status = snapshot_cache.sample_status("local")
    assert (status.state, status.since_ms) == ("stale", at * 5000 + 40)


def test_a_redis_outage_is_reported_with_its_start_until_it_ends(redis_server):
    sample()
    redis_server.kill()
    snapshot_cache.refresh("local")
    since_ms = snapshot_cache.sample_status("local").since_ms
    assert since_ms is not None
    snapshot_cache.refresh("local")
    assert snapshot_cache.sample_status("local").since_ms == since_ms
    redis_server.start()
    snapshot_cache.refresh("local")
    assert snapshot_cache.sample_status("local").state == "ok"


def test_requests_get_the_previous_snapshot_while_a_newer_one_is_computed(
    redis_server, monkeypatch
):
    number = sample(number=tick_now() - 1)
    snapshot_cache.snapshot("local", VIEWER)
    begun, may_end = threading.Event(), threading.Event()
    compute = TickColumns.of

    def slow(tick, before=None):
        begun.set()
        may_end.wait(30)
        return compute(tick, before)

    monkeypatch.setattr(TickColumns, "of", slow)
    monkeypatch.setattr(snapshot_cache, "CHECK_SECONDS", 0.0)
    sample(number=number + 1)
    try:
        first = snapshot_cache.snapshot("local", VIEWER)
        assert begun.wait(30)  # in a thread that nobody waits for
        assert first.tick.tick == number
        assert snapshot_cache.snapshot("local", ADMIN).tick.tick == number
        assert snapshot_cache.sample_status("local", ADMIN).tick == number
    finally:
        may_end.set()
    _until(lambda: snapshot_cache.snapshot("local", VIEWER).tick.tick == number + 1)


def test_requests_wait_for_the_newest_tick_if_the_cached_one_is_late(redis_server, monkeypatch):
    """Else the second request after a pause says that the cluster is not sampled."""
    sample(number=tick_now() - 10)
    assert snapshot_cache.sample_status("local").state == "stale"
    begun, may_end = threading.Event(), threading.Event()
    read = tick_stream.ticks_after

    def slow(*arguments):
        begun.set()
        may_end.wait(30)
        return read(*arguments)

    monkeypatch.setattr(tick_stream, "ticks_after", slow)
    sample(number=tick_now())
    snapshot_cache._entries["local"].checked_at = -1e9
    found = []
    requests = [
        threading.Thread(target=lambda: found.append(snapshot_cache.sample_status("local").state))
        for _ in range(2)
    ]
    requests[0].start()
    assert begun.wait(30)
    requests[1].start()
    time.sleep(0.1)  # it would answer at once with the old tick
    may_end.set()
    for request in requests:
        request.join()
    assert found == ["ok", "ok"]


def test_a_new_scope_gets_the_points_of_earlier_ticks(redis_server):
    first = tick_now() - 2
    for step in range(3):
        sample(number=first + step)
    assert len(snapshot_cache.recent_totals("local", ADMIN)) == 3
    points = snapshot_cache.recent_totals("local", VIEWER)
    assert [point.topics for point in points] == [2, 2, 2]


def test_a_scope_whose_points_are_asked_for_after_a_newer_tick_gets_earlier_points(redis_server):
    first = tick_now() - 3
    sample(number=first)
    sample(number=first + 1)
    assert len(snapshot_cache.recent_totals("local", ADMIN)) == 2
    assert snapshot_cache.snapshot("local", VIEWER) is not None
    sample(number=first + 2)
    snapshot_cache.refresh("local")
    assert len(snapshot_cache.recent_totals("local", VIEWER)) == 3


def test_only_the_most_recently_used_scopes_are_cached(redis_server, monkeypatch):
    sample()
    monkeypatch.setattr(snapshot_cache, "SCOPES_MAX", 1)
    shown = weakref.ref(snapshot_cache.snapshot("local", VIEWER))
    assert snapshot_cache.snapshot("local", ADMIN).topic("console.audit") is not None
    assert shown() is None


def test_a_scope_that_was_not_used_for_a_while_is_dropped(redis_server, monkeypatch):
    sample()
    shown = weakref.ref(snapshot_cache.snapshot("local", VIEWER))
    snapshot_cache.snapshot("local", ADMIN)
    assert shown() is not None
    monkeypatch.setattr(snapshot_cache, "IDLE_SECONDS", 0.0)
    snapshot_cache.snapshot("local", ADMIN)
    assert shown() is None


def test_each_scope_has_its_own_figures_points_and_status(redis_server):
    dead = [row | {"leader": -1} for row in PARTITIONS]
    sample(partitions=dead)
    narrow = Rights("local", "viewer", Scope(topics=("orders",), groups=("audit*",)))
    shown = snapshot_cache.snapshot("local", narrow)
    assert [row.name for row in shown.topics] == ["orders"]
    assert shown.groups == []  # those in the scope read a topic outside it
    assert snapshot_cache.sample_status("local", narrow).outages.leaderless == 2
    assert snapshot_cache.sample_status("local", ADMIN).outages.leaderless == 4
    [point] = snapshot_cache.recent_totals("local", narrow)
    assert (point.partitions, point.groups, point.lag.value) == (2, 0, None)
    [point] = snapshot_cache.recent_totals("local", ADMIN)
    assert (point.partitions, point.groups, point.lag.value) == (4, 2, 170)


def test_a_scope_that_shows_everything_shares_the_full_snapshot(redis_server):
    sample()
    wide = Rights("local", "viewer", Scope(topics=("orders", "_*", "console.*")))
    whole = snapshot_cache.snapshot("local", ADMIN)
    assert snapshot_cache.snapshot("local", wide) is whole
    assert snapshot_cache.snapshot("local", VIEWER) is not whole


def _until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_refused_values_name_only_topics_and_groups_in_the_scope(redis_server):
    mine = Reason("group_unknown_topics", group="mine")
    others = [
        Reason("group_partitions", group="mine", topic="theirs"),
        Reason("group_name", n=300, name="theirs"),
        Reason("topic_offsets", topic="theirs"),
    ]
    sample(invalid=[mine, *others])
    scoped = Rights("local", "admin", Scope(("orders",), ("mine",)))
    told = snapshot_cache.sample_status("local", scoped).outages.invalid
    assert told == (str(mine), "An admin can see the details.")
    assert len(snapshot_cache.sample_status("local", ADMIN).outages.invalid) == 4


def test_the_reason_of_a_gap_names_only_topics_and_groups_in_the_scope(redis_server):
    reason = Reason("answer_refused", why=Reason("group_unrequested", group="theirs"))
    sample(status="gap", reason=reason, partitions=[], groups=[])
    scoped = Rights("local", "viewer", Scope(groups=("mine",)))
    assert snapshot_cache.sample_status("local", scoped).reason == "An admin can see the details."
    assert "theirs" in snapshot_cache.sample_status("local", ADMIN).reason
