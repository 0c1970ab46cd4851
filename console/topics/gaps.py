"""Why partitions cannot be read, in words: which they are, what is wrong, what to do about it.

Pure: what a read left out (monitoring.gateway.browse) and the newest sample in, sentences out.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import numbers
from console.ui.texts import sentence
from monitoring.gateway import browse
from monitoring.gateway.browse import UnreadPartition
from monitoring.views.rows import PartitionRow
from monitoring.views.snapshot import Snapshot

_RANGES_MAX = 12


@dataclass(frozen=True, slots=True)
class Gap:
    """Partitions that are missing for one reason: a sentence, and what helps."""

    title: str
    text: str


def told(unread: Iterable[UnreadPartition], shown: Snapshot | None, topic: str) -> list[Gap]:
    """The gaps of one read; partitions that are missing for the same reason share one."""
    rows = {row.partition: row for row in shown.partitions(topic)} if shown else {}
    brokers = {broker["id"]: broker for broker in shown.tick.brokers} if shown else {}
    same: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for gap in unread:
        row = rows.get(gap.partition)
        blamed = _down(row, brokers) if gap.why == browse.NO_LEADER else _leader(row)
        same[gap.why, gap.detail, blamed].append(gap.partition)
    return [
        _gap(why, partitions, blamed, brokers, detail)
        for (why, detail, blamed), partitions in same.items()
    ]


def no_leader(row: PartitionRow, shown: Snapshot) -> Gap:
    """Of one partition that the newest sample knows to be without a leader."""
    brokers = {broker["id"]: broker for broker in shown.tick.brokers}
    return _gap(browse.NO_LEADER, [row.partition], _down(row, brokers), brokers, "")


def _leader(row: PartitionRow | None) -> tuple[int, ...]:
    return (row.leader,) if row is not None and row.leader >= 0 else ()


def _down(row: PartitionRow | None, brokers: Mapping[int, Mapping[str, Any]]) -> tuple[int, ...]:
    """The brokers that hold the partition and are down."""
    held = row.replicas if row is not None else []
    return tuple(id for id in held if not brokers.get(id, {}).get("up"))


def _gap(
    why: str,
    partitions: Sequence[int],
    blamed: Sequence[int],
    brokers: Mapping[int, Mapping[str, Any]],
    detail: str,
) -> Gap:
    n, which = len(partitions), {"list": ranges(partitions)}
    if why == browse.NO_LEADER:
        title = ngettext(
            "Partition %(list)s has no leader", "Partitions %(list)s have no leader", n
        )
        return Gap(_sentence(title % which, _absence(blamed, brokers)), _remedy(blamed))
    if why == browse.TOO_MUCH:
        title = ngettext(
            "Of partition %(list)s a part was read",
            "Of partitions %(list)s a part was read",
            n,
        )
        text = _(
            "What a page may read, in size and time, was used up before it was full. Choose one "
            "partition and read on with “Older” or “Newer”, or ask for fewer records."
        )
        return Gap(title % which + ".", text)
    title = ngettext(
        "Partition %(list)s could not be read", "Partitions %(list)s could not be read", n
    )
    if why == browse.FAILED:
        return Gap(title % which + ".", sentence(detail))
    leader = _("its leader, broker %(id)d, does not answer") % {"id": blamed[0]} if blamed else ""
    text = _("Try it again in a moment; if it stays so, look at the broker's page and its log.")
    return Gap(_sentence(title % which, leader), text)


def _sentence(what: str, why: str) -> str:
    return f"{what}: {why}." if why else f"{what}."


def _absence(down: Sequence[int], brokers: Mapping[int, Mapping[str, Any]]) -> str:
    """ "broker 2 is down since …, broker 3 is down"; empty where nobody is known to be."""
    parts = []
    for id in down:
        since_ms = brokers.get(id, {}).get("down_since_ms")
        text = _("broker %(id)d is down since %(at)s") if since_ms else _("broker %(id)d is down")
        parts.append(text % {"id": id, "at": numbers.moment(since_ms)})
    return ", ".join(parts)


def _remedy(down: Sequence[int]) -> str:
    if not down:
        return _("The cluster chooses one as soon as a broker with all its records is there.")
    return ngettext(
        "The records are on that broker's disk and can be read again when it is back: start it.",
        "The records are on those brokers' disks and can be read again when they are back: "
        "start them.",
        len(down),
    )


def ranges(partitions: Iterable[int]) -> str:
    """Numbers as people write them: 0–2, 5."""
    found: list[list[int]] = []
    for number in sorted(set(partitions)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    texts = [
        str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}"
        for a, b in found[:_RANGES_MAX]
    ]
    return ", ".join(texts) + (" …" if len(found) > _RANGES_MAX else "")
