"""Operations on alert rules: save, enable, disable, delete, test. Each change is audited."""

from typing import Any

from django.db import transaction

from console.accounts import outgoing_connection_rate_limit
from console.accounts.principal import Principal
from console.accounts.rights import Rights
from console.alerts.forms import RuleForm
from console.audit import write_entry as audit
from monitoring.alerts.delivery_queue import enqueue
from monitoring.alerts.evaluate import RULE_DISABLED, resolve_all
from monitoring.alerts.lag_condition import Condition, Subject, matches
from monitoring.alerts.webhook_message import example_payload
from monitoring.clock import now_ms
from monitoring.models import Alert, AlertDelivery, AlertRule, Cluster
from monitoring.read_model.snapshot import Snapshot

RULES_MAX = 500


def visible_rules(cluster: Cluster, rights: Rights) -> list[AlertRule]:
    """The cluster's rules that apply only to names within the user's scope, sorted by name."""
    return [
        rule
        for rule in AlertRule.objects.filter(cluster=cluster)
        if rights.scope.shows_groups_of(rule.group_pattern)
        and (not rule.topic_pattern or rights.scope.shows_topics_of(rule.topic_pattern))
    ]


def find_rule(cluster: Cluster, rights: Rights, rule_id: int) -> AlertRule | None:
    """The rule of this cluster, if it is visible with these rights, else None."""
    return next((rule for rule in visible_rules(cluster, rights) if rule.pk == rule_id), None)


def matching_group_count(rule: AlertRule, snapshot: Snapshot | None) -> int | None:
    """How many groups of the latest sample match the rule's pattern; None without a sample."""
    if snapshot is None:
        return None
    condition = Condition(rule.group_pattern, topic_pattern="", threshold=rule.threshold, for_ms=0)
    return sum(matches(condition, Subject(name)) for name in snapshot.group_names)


def audit_fields(rule: AlertRule) -> dict[str, Any]:
    """The fields of a rule for the audit log; of the webhook only host and fingerprint."""
    names = ("name", "group_pattern", "topic_pattern", "threshold", "for_seconds", "enabled")
    values = {name: getattr(rule, name) for name in names}
    fingerprint = rule.webhook_fingerprint
    return values | {"webhook": rule.webhook_host, "webhook_fingerprint": fingerprint}


def save(principal: Principal, form: RuleForm, before: dict[str, Any]) -> AlertRule:
    """Save the rule of a valid form; if it was disabled, its alerts resolve."""
    with transaction.atomic():
        if form.instance.pk is None:
            form.instance.created_by = principal.user.get_username()
        rule = form.save()
        if not rule.enabled:
            resolve_all(rule.alerts.filter(state=Alert.State.FIRING), now_ms(), RULE_DISABLED)
        action = "alert.edit" if before else "alert.add"
        name = before.get("name", rule.name)
        audit.record_by(principal, action, rule.cluster.slug, name, before, audit_fields(rule))
    return rule


def switch(principal: Principal, rule: AlertRule, *, enabled: bool) -> None:
    """Enable or disable a rule."""
    before = audit_fields(rule)
    with transaction.atomic():
        rule.enabled = enabled
        rule.save(update_fields=["enabled", "updated_at"])
        if not enabled:
            resolve_all(rule.alerts.filter(state=Alert.State.FIRING), now_ms(), RULE_DISABLED)
        action = "alert.enable" if enabled else "alert.disable"
        audit.record_by(principal, action, rule.cluster.slug, rule.name, before, audit_fields(rule))


def delete(principal: Principal, rule: AlertRule) -> bool:
    """Delete a rule with its alerts and deliveries; False while an alert is firing.

    A webhook that got `fired` must also get `resolved`: disable the rule first.
    """
    if rule.webhook_url and rule.alerts.filter(state=Alert.State.FIRING).exists():
        return False
    before = audit_fields(rule)
    with transaction.atomic():
        rule.delete()
        audit.record_by(principal, "alert.delete", rule.cluster.slug, rule.name, before)
    return True


def send_test(principal: Principal, rule: AlertRule) -> bool:
    """Send a test message; False if this user sent too many in the last minute."""
    if not outgoing_connection_rate_limit.allows("alert-test", principal.user):
        return False
    payload = example_payload(rule, now_ms())
    with transaction.atomic():
        delivery = AlertDelivery.objects.create(
            rule=rule, event=AlertDelivery.Event.TEST, payload=payload
        )
        transaction.on_commit(lambda: enqueue(delivery.pk))
        audit.record_by(principal, "alert.test", rule.cluster.slug, rule.name)
    return True
