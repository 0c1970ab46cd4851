"""Evaluates the alert rules on each tick; writes alerts and deliveries to the database.

Firing and resolved alerts are in the database, pending subjects in Redis. A transition and its
message are written in one transaction. A tick that is evaluated twice changes nothing: an alert is
created only if none is firing, and resolved only if one is firing. A rule that fails is logged and
skipped.
"""

import logging
from collections.abc import Iterable, Mapping

from django.db import IntegrityError, transaction

from monitoring.alerts import stored_pending_subjects
from monitoring.alerts.delivery_queue import enqueue
from monitoring.alerts.lag_condition import Condition, LagReading, RuleInput, Subject
from monitoring.alerts.lags_for_rules import rule_input_of
from monitoring.alerts.models import Alert, AlertDelivery, AlertRule
from monitoring.alerts.state_machine import (
    Phase,
    SubjectState,
    Transition,
    TransitionKind,
    evaluate_condition,
)
from monitoring.alerts.webhook_message import alert_payload
from monitoring.console_topics import public_scope
from monitoring.error_reason import Reason, dumps
from monitoring.redis_client import RedisDown
from monitoring.storable_names import is_storable
from monitoring.ticks.tick import Tick

log = logging.getLogger(__name__)
# A pending subject that was last seen over the threshold longer ago starts again.
_OVER_AGE_INTERVALS = 3
# Why an alert resolved, besides that its lag fell.
SUBJECT_GONE = Reason("alert_subject_gone")
RULE_DISABLED = Reason("alert_rule_disabled")
RULE_CHANGED = Reason("alert_rule_changed")


def evaluate(tick: Tick) -> bool:
    """Evaluate the enabled rules of the tick's cluster; True if an alert changed its state."""
    enabled = AlertRule.objects.filter(cluster__slug=tick.cluster, enabled=True)
    rules = list(enabled.select_related("cluster"))
    if not tick.ok or not rules:
        return False
    changed = False
    try:
        pending = stored_pending_subjects.load(tick.cluster)
        scope = public_scope(rules[0].cluster)
        with_topics = any(rule.topic_pattern for rule in rules)
        rule_input = rule_input_of(tick, scope, with_topics=with_topics)
        firing = _firing_alerts(rules)
        new_pending: stored_pending_subjects.Pending = {}
        for rule in rules:
            try:
                new_pending[rule.pk], has_changed = _evaluate_rule(
                    rule, rule_input, pending.get(rule.pk, {}), firing.get(rule.pk, {}), tick
                )
            except Exception:
                log.exception("alert rule %d (%s) failed on tick %d", rule.pk, rule, tick.tick)
                new_pending[rule.pk] = pending.get(rule.pk, {})
                continue
            changed = changed or has_changed
        if pending or any(new_pending.values()):
            stored_pending_subjects.save(tick.cluster, new_pending)
    except RedisDown as error:
        log.warning(
            "the alert rules of %s were not all evaluated on tick %d: %s",
            tick.cluster,
            tick.tick,
            error,
        )
    return changed


def _firing_alerts(rules: list[AlertRule]) -> dict[int, dict[Subject, Alert]]:
    """The firing alerts of each rule, by rule id."""
    by_rule: dict[int, dict[Subject, Alert]] = {}
    alerts = Alert.objects.filter(rule__in=rules, state=Alert.State.FIRING)
    for alert in alerts.select_related("rule__cluster"):
        by_rule.setdefault(alert.rule_id, {})[Subject(alert.group, alert.topic)] = alert
    return by_rule


def _evaluate_rule(
    rule: AlertRule,
    rule_input: RuleInput,
    pending: dict[Subject, SubjectState],
    firing_alerts: dict[Subject, Alert],
    tick: Tick,
) -> tuple[dict[Subject, SubjectState], bool]:
    """Evaluate one rule: (pending subjects, whether an alert changed)."""
    condition = Condition(
        rule.group_pattern, rule.topic_pattern, rule.threshold, rule.for_seconds * 1000
    )
    # The time of the last OVER is not used while a subject fires.
    firing = {
        subject: SubjectState(
            Phase.FIRING,
            alert.since_ms,
            last_over_ms=tick.at_ms,
            unknown_since_ms=alert.unknown_since_ms,
        )
        for subject, alert in firing_alerts.items()
    }
    over_age_ms_max = _OVER_AGE_INTERVALS * tick.interval_ms
    states, transitions = evaluate_condition(
        condition, rule_input, pending | firing, over_age_ms_max
    )
    changed = False
    for transition in transitions:
        if transition.kind is TransitionKind.FIRED:
            changed |= _fire(rule, transition, tick)
        else:
            alert = firing_alerts[transition.subject]
            changed |= resolve(
                alert, tick.at_ms, _resolve_reason(transition, alert), transition.lag_reading
            )
    _update_firing_alerts(
        states, rule_input.topics if condition.topic_pattern else rule_input.groups, firing_alerts
    )
    still_pending = {
        subject: state for subject, state in states.items() if state.phase is Phase.PENDING
    }
    return still_pending, changed


def _resolve_reason(transition: Transition, alert: Alert) -> str:
    """Why an alert resolved; "" = its lag fell."""
    if transition.gone:
        return SUBJECT_GONE
    if transition.lag is not None and transition.lag > alert.threshold:
        # Over the threshold at which it fired, so the rule's threshold was raised since.
        return RULE_CHANGED
    reading = transition.lag_reading
    if reading is None or not reading.ahead:
        return ""
    return Reason("alert_commits_ahead", n=reading.ahead, by=reading.ahead_by)


def _update_firing_alerts(
    states: dict[Subject, SubjectState],
    readings: Mapping[Subject, LagReading],
    firing_alerts: dict[Subject, Alert],
) -> None:
    """Update the highest lag of firing alerts, and since when the lag is unknown."""
    changed = []
    for subject, alert in firing_alerts.items():
        state, lag_reading = states.get(subject), readings.get(subject)
        if state is None:
            continue
        before = alert.unknown_since_ms, alert.lag_peak
        alert.unknown_since_ms = state.unknown_since_ms
        if lag_reading is not None and lag_reading.lag is not None:
            alert.lag_peak = max(lag_reading.lag, alert.lag, alert.lag_peak or 0)
        if (alert.unknown_since_ms, alert.lag_peak) != before:
            changed.append(alert)
    if changed:
        Alert.objects.bulk_update(changed, ["unknown_since_ms", "lag_peak"])


def _fire(rule: AlertRule, transition: Transition, tick: Tick) -> bool:
    if not all(map(is_storable, (transition.subject.group, transition.subject.topic))):
        name = transition.subject.group[:80]
        log.warning("no alert for group %r: the database cannot store the name", name)
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
                threshold=rule.threshold,
            )
            _create_delivery(alert, AlertDelivery.Event.FIRED, transition.lag_reading)
    except IntegrityError:
        return False  # the alert is firing already
    return True


def resolve(alert: Alert, at_ms: int, reason: str, current: LagReading | None = None) -> bool:
    """Resolve an alert and create its delivery; False if it was resolved already."""
    with transaction.atomic():
        resolved = Alert.objects.filter(pk=alert.pk, state=Alert.State.FIRING).update(
            state=Alert.State.RESOLVED, resolved_at_ms=at_ms, resolved_reason=dumps(reason)
        )
        if not resolved:
            return False
        alert.refresh_from_db()
        _create_delivery(alert, AlertDelivery.Event.RESOLVED, current)
    return True


def resolve_all(alerts: Iterable[Alert], at_ms: int, reason: str) -> int:
    """Resolve all these alerts; returns how many were firing."""
    return sum(resolve(alert, at_ms, reason) for alert in alerts)


def _create_delivery(alert: Alert, event: AlertDelivery.Event, current: LagReading | None) -> None:
    if not alert.rule.webhook_url:
        return
    delivery = AlertDelivery.objects.create(
        rule=alert.rule,
        alert=alert,
        event=event,
        payload=alert_payload(alert, event.value, current),
    )
    transaction.on_commit(lambda: enqueue(delivery.pk))
