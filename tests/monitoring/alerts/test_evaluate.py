"""Rules on ticks with the real database and the real Redis."""

import pytest

from monitoring.alerts import evaluate as module
from monitoring.alerts.evaluate import (
    RULE_CHANGED,
    RULE_DISABLED,
    SUBJECT_GONE,
    evaluate,
    resolve_all,
)
from monitoring.error_reason import dumps, loads
from monitoring.models import Alert, AlertDelivery
from tests.monitoring.tick_factory import make_tick

pytestmark = pytest.mark.django_db


def tick(number, *lags, complete=True, topic="t"):
    """A tick in which group g has these lags on the partitions of one topic."""
    rows = [
        {"group": "g", "state": "Stable", "topic": topic, "partition": p, "members": 1,
         "committed_offset": None if lag is None else max(0, -lag),
         "log_end_offset": None if lag is None else max(0, lag)}
        for p, lag in enumerate(lags)
    ]  # fmt: skip
    partitions = [{"topic": "t", "partition": 0}]
    return make_tick(number, partitions=partitions, groups=rows, groups_complete=complete)


def states():
    return [(alert.group, alert.topic, alert.state) for alert in Alert.objects.order_by("id")]


def test_an_alert_fires_after_its_time_and_resolves(make_rule, redis_server):
    make_rule()
    assert [evaluate(tick(n, 80, 90)) for n in (1, 2, 3, 4)] == [False, False, True, False]
    [alert] = Alert.objects.all()
    assert (alert.state, alert.lag, alert.fired_tick) == ("firing", 170, 3)
    assert alert.fired_at_ms - alert.since_ms == 10_000
    assert evaluate(tick(5, 10, 20))
    alert.refresh_from_db()
    assert (alert.state, alert.resolved_reason) == ("resolved", "")
    assert alert.resolved_at_ms > alert.fired_at_ms


def test_a_group_name_that_cannot_be_stored_does_not_affect_others(make_rule, redis_server, caplog):
    make_rule(group_pattern="*", for_seconds=0)
    names = ["a\x00b", "b" * 256, "", "c" * 255, "d\x1b"]
    row = {"state": "Stable", "topic": "t", "partition": 0, "committed_offset": 0}
    rows = [row | {"group": name, "log_end_offset": 500} for name in names]
    assert evaluate(make_tick(1, partitions=[{"topic": "t", "partition": 0}], groups=rows))
    assert {group for group, _topic, _state in states()} == {"", "c" * 255, "d\x1b"}
    assert "no alert for group 'a\\x00b'" in caplog.text


def test_a_restart_while_pending_does_not_start_the_time_again(make_rule, redis_server):
    make_rule()
    evaluate(tick(1, 500))
    redis_server.kill()
    redis_server.start()
    evaluate(tick(2, 500))
    assert evaluate(tick(3, 500))


def test_the_same_tick_evaluated_twice_fires_once(make_rule, redis_server):
    make_rule(for_seconds=0)
    assert evaluate(tick(1, 500))
    assert not evaluate(tick(1, 500))
    assert len(states()) == 1


def test_losing_redis_while_firing_does_not_fire_again(make_rule, redis_server):
    make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    redis_server.client().flushall()
    evaluate(tick(2, 500))
    assert states() == [("g", "", "firing")]


def test_two_workers_that_fire_at_once_make_one_alert(make_rule, redis_server):
    rule = make_rule(for_seconds=0)
    rule_input = module.rule_input_of(tick(1, 500), with_topics=False)
    stale = list(rule.alerts.all())
    assert stale == []
    assert module._evaluate_rule(rule, rule_input, {}, {}, tick(1, 500))[1]
    found = module.LagReading(500, complete=True)
    transition = module.Transition(module.Subject("g"), module.TransitionKind.FIRED, 0, found)
    assert not module._fire(rule, transition, tick(1, 500))
    assert len(states()) == 1


def test_it_may_fire_again_after_it_was_resolved(make_rule, redis_server):
    make_rule(for_seconds=0)
    for number, lag in enumerate((500, 0, 500), start=1):
        evaluate(tick(number, lag))
    assert states() == [("g", "", "resolved"), ("g", "", "firing")]


def test_gaps_and_unknown_lags_change_nothing(make_rule, redis_server):
    make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    assert not evaluate(make_tick(2, status="gap", reason="down"))
    assert not evaluate(tick(3, None))
    assert not evaluate(make_tick(4, groups_complete=False))
    assert states() == [("g", "", "firing")]


def test_an_alert_has_since_when_its_lag_is_unknown(
    make_rule, redis_server, django_assert_num_queries
):
    make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    evaluate(tick(2, None))
    since = tick(2).at_ms
    assert Alert.objects.get().unknown_since_ms == since
    with django_assert_num_queries(3):  # nothing is written at each further tick
        evaluate(tick(3, None))
    assert Alert.objects.get().unknown_since_ms == since
    evaluate(tick(4, 500))
    assert Alert.objects.get().unknown_since_ms is None
    assert states() == [("g", "", "firing")]


def test_an_alert_that_a_changed_threshold_closes_does_not_say_that_the_lag_fell(
    make_rule, redis_server
):
    rule = make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    rule.threshold = 1000
    rule.save()
    assert evaluate(tick(2, 500))
    assert Alert.objects.get().resolved_reason == dumps(RULE_CHANGED)


def test_a_group_that_is_gone_resolves_with_that_reason(make_rule, redis_server):
    make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    assert evaluate(make_tick(2))
    assert Alert.objects.get().resolved_reason == dumps(SUBJECT_GONE)


def test_a_topic_that_is_gone_does_not_keep_an_alert_open(make_rule, redis_server):
    make_rule(for_seconds=0, topic_pattern="t")
    evaluate(tick(1, 500))
    commit = {"group": "g", "topic": "t", "partition": 0, "committed_offset": 0}
    gone = make_tick(2, partitions=[{"topic": "other", "partition": 0}], groups=[commit])
    assert evaluate(gone)
    assert states() == [("g", "t", "resolved")]


def test_disabled_rules_and_other_clusters_are_not_evaluated(make_rule, redis_server):
    make_rule(for_seconds=0, enabled=False)
    make_rule("other", for_seconds=0, group_pattern="nobody")
    assert not evaluate(tick(1, 500))
    assert not evaluate(make_tick(1, cluster="else", groups=[]))


def test_a_rule_that_fails_does_not_affect_others(make_rule, redis_server, monkeypatch):
    make_rule("a broken", for_seconds=0, group_pattern="g")
    make_rule("b sound", for_seconds=0)
    real = module.evaluate_condition

    def fails_for_the_first(condition, *rest):
        if condition.group_pattern == "g":
            raise RuntimeError("broken")
        return real(condition, *rest)

    monkeypatch.setattr(module, "evaluate_condition", fails_for_the_first)
    assert evaluate(tick(1, 500))
    assert Alert.objects.get().rule.name == "b sound"


def test_alerts_do_not_change_while_redis_is_down(make_rule, redis_server):
    make_rule(for_seconds=0)
    redis_server.kill()
    assert not evaluate(tick(1, 500))
    redis_server.start()
    assert evaluate(tick(2, 500))


def test_each_transition_is_reported_once(
    make_rule, redis_server, django_capture_on_commit_callbacks
):
    make_rule(webhook="http://127.0.0.1:1/hook", secret="s", for_seconds=0)
    make_rule("silent", for_seconds=0)
    with django_capture_on_commit_callbacks() as queued:
        for number, lag in enumerate((500, 600, 7), start=1):
            evaluate(tick(number, lag))
    told = AlertDelivery.objects.order_by("id")
    lags = ("lag", "lag_now", "lag_peak", "ahead")
    assert [(d.event, *(d.payload[name] for name in lags)) for d in told] == [
        ("fired", 500, 500, 500, 0),
        ("resolved", 500, 7, 600, 0),
    ]
    assert len(queued) == 2
    assert {d.payload["alert_id"] for d in told} == {told[0].alert_id}


def test_an_alert_stores_its_highest_lag(make_rule, redis_server):
    make_rule(for_seconds=0)
    peaks = []
    for number, lag in enumerate((500, 900, None, 700, 0), start=1):
        evaluate(tick(number, lag))
        peaks.append(Alert.objects.get().lag_peak)
    assert peaks == [500, 900, 900, 900, 900]
    assert Alert.objects.get().lag == 500


def test_an_alert_that_ends_where_commits_are_beyond_their_ends_says_so(make_rule, redis_server):
    make_rule(webhook="http://127.0.0.1:1/hook", secret="s", for_seconds=0)
    evaluate(tick(1, 500))
    evaluate(tick(2, -490))
    reason = loads(Alert.objects.get().resolved_reason)
    assert "commits are beyond their ends: 1, by 490 together" in reason
    payload = AlertDelivery.objects.first().payload
    assert [payload[name] for name in ("lag_now", "ahead", "ahead_by")] == [0, 1, 490]


def test_disabling_a_rule_resolves_its_alerts(make_rule, redis_server):
    rule = make_rule(for_seconds=0)
    evaluate(tick(1, 500))
    assert resolve_all(rule.alerts.all(), 99, RULE_DISABLED) == 1
    assert resolve_all(rule.alerts.all(), 100, RULE_DISABLED) == 0
    alert = Alert.objects.get()
    assert (alert.state, alert.resolved_at_ms) == ("resolved", 99)
    assert loads(alert.resolved_reason) == RULE_DISABLED


def test_the_number_of_queries_does_not_depend_on_the_number_of_rules(
    make_rule, redis_server, django_assert_num_queries
):
    for number in range(20):
        make_rule(f"rule {number}", for_seconds=3600)
    with django_assert_num_queries(3):  # the rules, what only admins see, and what fires
        evaluate(tick(1, 0))
