"""The groups that a change to one or several topics affects, as texts for the review."""

from collections import Counter

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import ANY


def groups_reading(topic: str, snapshot: Snapshot | None) -> list[str]:
    """The groups that read the topic: one line per group."""
    if snapshot is None:
        return [_("The groups that read it are unknown: there is no sample of this cluster yet.")]
    lags = snapshot.lags(topic=topic)
    lines = []
    owned_by = Counter(row.group for row in lags if row.member_id is not None)
    for group in sorted({row.group for row in lags}):
        owned = owned_by[group]
        text = ngettext(
            "Group “%(group)s” is assigned %(n)d partition now",
            "Group “%(group)s” is assigned %(n)d partitions now",
            owned,
        )
        idle = _("Group “%(group)s” has committed offsets, but no members now")
        lines.append((text if owned else idle) % {"group": group, "n": owned})
    if ANY not in snapshot.scope.groups:
        return [*lines, _("Groups outside your scope may also read it.")]
    return lines or [_("No consumer group reads it.")]


def groups_reading_each(names: list[str], snapshot: Snapshot | None) -> list[str]:
    """A line with its groups for each topic that is read."""
    if snapshot is None:
        return [_("The groups that read them are unknown: there is no sample of this cluster yet.")]
    lines = []
    for name in names:
        if groups := [row.group for row in snapshot.readers(name)]:
            text = _("“%(topic)s” is read by %(groups)s")
            lines.append(text % {"topic": name, "groups": ", ".join(groups[:5])})
    return lines or [_("No consumer group reads them.")]
