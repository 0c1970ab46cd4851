"""Describes what changed since the review: facts of then and of now. Pure."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.actions.draft import Facts

MOVES_MAX = 5


def of_new_topic(then: Facts, now: Facts) -> list[str]:
    """The differences between facts of CreateTopic, as texts."""
    lines = []
    if now["exists"] and not then["exists"]:
        lines.append(_("A topic with this name was created meanwhile."))
    if now["colliding"] != then["colliding"]:
        others = ", ".join(f"“{name}”" if name else _("another topic") for name in now["colliding"])
        text = (
            _("Its name collides with %(others)s now.")
            if others
            else _("The name no longer collides.")
        )
        lines.append(text % {"others": others})
    if now["brokers"] != then["brokers"]:
        text = ngettext(
            "The cluster has %(now)d broker now, instead of %(then)d.",
            "The cluster has %(now)d brokers now, instead of %(then)d.",
            now["brokers"],
        )
        lines.append(text % {"now": now["brokers"], "then": then["brokers"]})
    if now["objection"] != then["objection"] and not now["exists"]:
        text = _("The brokers refuse it now: %(why)s.") if now["objection"] else ""
        lines.append(text % {"why": now["objection"].rstrip(".")})
    return list(filter(None, lines))


def of_existing_topic(then: Facts, now: Facts) -> list[str]:
    """The differences between facts of an existing topic (topic_facts.py), as texts."""
    if now.get("topic_id") != then.get("topic_id"):
        return [_("The topic was deleted and created again.")]
    if now["partitions"] != then["partitions"]:
        text = ngettext(
            "It has %(now)d partition now, instead of %(then)d.",
            "It has %(now)d partitions now, instead of %(then)d.",
            now["partitions"],
        )
        return [text % {"now": now["partitions"], "then": then["partitions"]}]
    moved = [
        (number, before, after)
        for number, (before, after) in enumerate(
            zip(then["replicas"], now["replicas"], strict=True)
        )
        if before != after
    ]
    lines = [
        _(
            "The replicas of partition %(n)d are on brokers [%(after)s] now, instead of "
            "[%(before)s]."
        )
        % {"n": number, "before": _ids(before), "after": _ids(after)}
        for number, before, after in moved[:MOVES_MAX]
    ]
    more = len(moved) - MOVES_MAX
    if more > 0:
        text = ngettext(
            "%(n)d more partition moved.", "%(n)d more partitions moved.", more
        )  # fmt: skip
        lines.append(text % {"n": more})
    return lines


def _ids(ids: list[int]) -> str:
    return ", ".join(map(str, ids))
