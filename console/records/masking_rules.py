"""The masking rules of a cluster: which parts of a topic's records are masked for whom.

The parts are named by targets, such as value.user.email; monitoring/records/mask_record.py lists
their forms, and masks the records.
"""

import re
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from console.records.models import MaskingRule
from monitoring.clusters import kafka_cluster_id
from monitoring.models import Cluster
from monitoring.scope import Scope

# Not a character of topic names, nor a wildcard.
_NOT_IN_PATTERNS = re.compile(r"[^a-zA-Z0-9._*?-]")
WILDCARDS_MAX = 10


def wrong_character(pattern: str) -> tuple[int, str] | None:
    """Position (from 1) and text of the first invalid character of a pattern."""
    found = _NOT_IN_PATTERNS.search(pattern)
    return (found.start() + 1, found[0]) if found else None


def mask_targets(principal: Principal, cluster: Cluster, topic: str) -> tuple[list[str], list[str]]:
    """(targets masked for `principal`, targets shown to them although masked for others).

    The right to see masked data is checked on the cluster of the rule.
    """
    masked: set[str] = set()
    unmasked: set[str] = set()
    for rule in rules_for(cluster):
        if rule.masks(topic):
            verb = rule.unmask_verb
            is_unmasked = verb is not None and principal.may(verb, rule.cluster, topic)
            (unmasked if is_unmasked else masked).add(rule.target)
    return sorted(masked), sorted(unmasked - masked)


def is_masked(principal: Principal, cluster: Cluster, topic: str) -> bool:
    """Whether parts of the topic's records are masked for `principal`."""
    return bool(mask_targets(principal, cluster, topic)[0])


def exposed_targets(
    shown: Iterable[str], source: tuple[Cluster, str], copy: tuple[Cluster, str]
) -> list[str]:
    """The targets that a copy of the records would show to more users.

    `shown`: the targets that rules of the source mask, but not for the user who copies. `source`
    and `copy` are (cluster, topic).
    """
    before, after = _strictness(*source), _strictness(*copy)
    return sorted(target for target in shown if after.get(target, -1) < before[target])


def _strictness(cluster: Cluster, topic: str) -> dict[str, int]:
    """Target → strictness of the strictest rule that masks it in this topic."""
    strictest: dict[str, int] = {}
    for rule in rules_for(cluster):
        if rule.masks(topic):
            strictest[rule.target] = max(rule.strictness, strictest.get(rule.target, -1))
    return strictest


def rules_for(cluster: Cluster) -> list[MaskingRule]:
    """The rules of a cluster, including those of other entries with the same cluster id."""
    of_cluster = Q(cluster=cluster)
    if cluster.kafka_cluster_id:
        of_cluster |= Q(cluster__kafka_cluster_id=cluster.kafka_cluster_id)
    # Without the columns of the clusters: a page of records checks the rules up to four times.
    rules = list(MaskingRule.objects.filter(of_cluster))
    for rule in rules:
        if rule.cluster_id == cluster.pk:
            rule.cluster = cluster
    return rules


def add_rule(principal: Principal, rule: MaskingRule) -> None:
    """Save and audit a new, valid rule."""
    with transaction.atomic():
        rule.save()
        fields, slug = _audit_fields(rule), rule.cluster.slug
        audit.record_by(principal, "masking.add", slug, rule.topic_pattern, after=fields)


def remove_rule(principal: Principal, cluster: Cluster, rule_id: int) -> bool:
    """Remove a rule; False if this cluster has none that the user may see."""
    rule = MaskingRule.objects.filter(pk=rule_id, cluster=cluster).first()
    scope = principal.rights(cluster).scope
    if rule is None or not scope.shows_topics_of(rule.topic_pattern):
        return False
    with transaction.atomic():
        fields = _audit_fields(rule)
        audit.record_by(principal, "masking.remove", cluster.slug, rule.topic_pattern, fields)
        rule.delete()
    return True


def _audit_fields(rule: MaskingRule) -> dict[str, Any]:
    """The fields of a rule in the audit log."""
    return {"topics": rule.topic_pattern, "masked": rule.target, "shown to": rule.shown_to}


def rules_in_scope(cluster: Cluster, scope: Scope) -> list[MaskingRule]:
    """The rules that apply only to topics within the scope."""
    return [rule for rule in rules_for(cluster) if scope.shows_topics_of(rule.topic_pattern)]


def copy_masking_rules(cluster: Cluster) -> None:
    """Copy the rules to another entry with the same cluster id, before this entry is removed."""
    for other in kafka_cluster_id.others(cluster)[:1]:  # one is enough: see rules_for
        for rule in MaskingRule.objects.filter(cluster=cluster):
            kept, _ = MaskingRule.objects.get_or_create(
                cluster=other,
                topic_pattern=rule.topic_pattern,
                target=rule.target,
                defaults={"shown_to": rule.shown_to},
            )
            if kept.strictness < rule.strictness:
                kept.shown_to = rule.shown_to
                kept.save(update_fields=["shown_to"])
