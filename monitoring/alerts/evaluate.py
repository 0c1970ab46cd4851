"""The adapter around the rules: once per tick, rows in, transitions out to database and webhooks.

What fires or has fired is in the database, what is pending in Redis. A transition and the message
about it are written together; a tick that is judged twice changes nothing, because an alert is
created only where none is open and resolved only where one is. One rule that fails is logged and
skipped.
"""

import logging
from collections.abc import Iterable, Mapping

from django.db import IntegrityError, transaction

from monitoring.alerts import pending
from monitoring.alerts.models import Alert, AlertDelivery, AlertRule
from monitoring.alerts.payload import alert_payload
from monitoring.alerts.rule_input import rule_input_of
from monitoring.alerts.rules import (
    Event,
    LagReading,
    Phase,
    Rule,
    RuleInput,
    Subject,
    SubjectState,
    Transition,
    evaluate_rule,
)
from monitoring.alerts.send import enqueue
from monitoring.redis_client import StoreDown
from monitoring.ticks.tick import Tick

log = logging.getLogger(__name__)
_UNSEEN_INTERVALS = 3
GONE = "the group or topic does not exist any more, or the rule does not match it"
NAME_LENGTH_MAX = 255  # of the columns; PostgreSQL takes no NUL either
# The lag is no more than what is known to be there: the commits of some say nothing of it.
AHEAD = "the lag fell; partitions whose commits are beyond their ends: %(n)d, by %(by)d together"
RULE_OFF = "the rule was disabled"
CHANGED = "the rule was changed"


def evaluate(tick: Tick) -> bool:
    """Judge `tick` by every enabled rule of its cluster; True if any alert changed its state."""
    enabled = AlertRule.objects.filter(cluster__slug=tick.cluster, enabled=True)
    rules = list(enabled.select_related("cluster"))
    if not tick.ok or not rules:
        return False
    try:
        waiting = pending.load(tick.cluster)
        view = rule_input_of(tick, with_topics=any(rule.topic_pattern for rule in rules))
        firing = _firing(rules)
        still: pending.Pending = {}
        changed = False
        for rule in rules:
            try:
                kept, moved = _judge(
                    rule, view, waiting.get(rule.pk, {}), firing.get(rule.pk, {}), tick
                )
            except Exception:
                log.exception("alert rule %d (%s) failed on tick %d", rule.pk, rule, tick.tick)
                still[rule.pk] = waiting.get(rule.pk, {})
                continue
            still[rule.pk] = kept
            changed = changed or moved
        if waiting or any(still.values()):
            pending.save(tick.cluster, still)
    except StoreDown as error:
        log.warning(
            "the rules of %s were not judged on tick %d: %s", tick.cluster, tick.tick, error
        )
        return False
    return changed


def _firing(rules: list[AlertRule]) -> dict[int, dict[Subject, Alert]]:
    """The open alerts of each rule, by rule id."""
    found: dict[int, dict[Subject, Alert]] = {}
    open_alerts = Alert.objects.filter(rule__in=rules, state=Alert.State.FIRING)
    for alert in open_alerts.select_related("rule__cluster"):
        found.setdefault(alert.rule_id, {})[Subject(alert.group, alert.topic)] = alert
    return found


def _judge(
    row: AlertRule,
    view: RuleInput,
    waiting: dict[Subject, SubjectState],
    open_alerts: dict[Subject, Alert],
    tick: Tick,
) -> tuple[dict[Subject, SubjectState], bool]:
    """One rule: (what is pending now, whether an alert changed)."""
    rule = Rule(row.pk, row.group_pattern, row.topic_pattern, row.lag_max, row.for_seconds * 1000)
    firing = {
        subject: SubjectState(Phase.FIRING, alert.since_ms, tick.at_ms, alert.unknown_since_ms)
        for subject, alert in open_alerts.items()
    }
    unseen_ms_max = _UNSEEN_INTERVALS * tick.interval_ms
    standing, transitions = evaluate_rule(rule, view, waiting | firing, unseen_ms_max)
    changed = False
    for transition in transitions:
        if transition.event is Event.FIRED:
            changed |= _fire(row, transition, tick)
        else:
            alert = open_alerts[transition.subject]
            changed |= resolve(alert, tick.at_ms, _why(transition, alert), transition.found)
    _keep_up(standing, view.topics if rule.topic_pattern else view.groups, open_alerts)
    kept = {subject: at for subject, at in standing.items() if at.phase is Phase.PENDING}
    return kept, changed


def _why(transition: Transition, alert: Alert) -> str:
    """Why an alert resolves; "" = its lag fell."""
    if transition.gone:
        return GONE
    if transition.lag is not None and transition.lag > alert.lag_max:
        return CHANGED
    if transition.found is None or not transition.found.ahead:
        return ""
    return AHEAD % {"n": transition.found.ahead, "by": transition.found.ahead_by}


def _keep_up(
    standing: dict[Subject, SubjectState],
    sums: Mapping[Subject, LagReading],
    open_alerts: dict[Subject, Alert],
) -> None:
    """Note the most lag of open alerts, and since when it is not known: only what changed."""
    changed = []
    for subject, alert in open_alerts.items():
        at, found = standing.get(subject), sums.get(subject)
        if at is None:
            continue
        before = alert.unknown_since_ms, alert.lag_peak
        alert.unknown_since_ms = at.unknown_since_ms
        if found is not None and found.lag is not None:
            alert.lag_peak = max(found.lag, alert.lag, alert.lag_peak or 0)
        if (alert.unknown_since_ms, alert.lag_peak) != before:
            changed.append(alert)
    if changed:
        Alert.objects.bulk_update(changed, ["unknown_since_ms", "lag_peak"])


def _fire(rule: AlertRule, transition: Transition, tick: Tick) -> bool:
    if not _can_be_kept(transition.subject):
        name = transition.subject.group[:80]
        log.warning("the group %r is not watched: no alert can be kept of such a name", name)
        return False
    try:
        with transaction.atomic():
            alert = Alert.objects.create(
                cluster=rule.cluster,
                rule=rule,
                group=transition.subject.group,
                topic=transition.subject.topic,
                since_ms=transition.since_ms,
                fired_at_ms=tick.at_ms,
                fired_tick=tick.tick,
                lag=transition.lag or 0,
                lag_peak=transition.lag,
                lag_max=rule.lag_max,
            )
            _tell(alert, AlertDelivery.Event.FIRED, transition.found)
    except IntegrityError:
        return False  # it fires already
    return True


def _can_be_kept(subject: Subject) -> bool:
    """Whether the database takes the names: a rule must not fail because of what a client chose."""
    return all(
        len(name) <= NAME_LENGTH_MAX and "\x00" not in name
        for name in (subject.group, subject.topic)
    )


def resolve(alert: Alert, at_ms: int, reason: str, now: LagReading | None = None) -> bool:
    """Close an open alert and tell so; False if it was closed already."""
    with transaction.atomic():
        closed = Alert.objects.filter(pk=alert.pk, state=Alert.State.FIRING).update(
            state=Alert.State.RESOLVED, resolved_at_ms=at_ms, resolved_reason=reason
        )
        if not closed:
            return False
        alert.refresh_from_db()
        _tell(alert, AlertDelivery.Event.RESOLVED, now)
    return True


def resolve_all(alerts: Iterable[Alert], at_ms: int, reason: str) -> int:
    """Close every alert given; how many were open."""
    return sum(resolve(alert, at_ms, reason) for alert in alerts)


def _tell(alert: Alert, event: AlertDelivery.Event, now: LagReading | None) -> None:
    if not alert.rule.webhook_url:
        return
    delivery = AlertDelivery.objects.create(
        rule=alert.rule,
        alert=alert,
        event=event,
        payload=alert_payload(alert, event.value, now),
    )
    transaction.on_commit(lambda: enqueue(delivery.pk))
