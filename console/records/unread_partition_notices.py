"""Notices about partitions that could not be read: their numbers, the reason, and what to do.

Pure: input are the unread partitions (monitoring.gateway.record_pages) and the newest snapshot.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import times
from console.ui.partition_ranges import ranges_of
from console.ui.texts import sentence
from monitoring.gateway import record_pages
from monitoring.gateway.record_pages import UnreadPartition
from monitoring.read_model.row_types import PartitionRow
from monitoring.read_model.snapshot import Snapshot

_RANGES_MAX = 12


@dataclass(frozen=True, slots=True)
class UnreadNotice:
    """One notice about partitions that could not be read for the same reason."""

    title: str
    text: str


def notices(
    unread: Iterable[UnreadPartition], snapshot: Snapshot | None, topic: str
) -> list[UnreadNotice]:
    """The notices for one read; partitions with the same reason share one."""
    rows = {row.partition: row for row in snapshot.partitions(topic)} if snapshot else {}
    brokers = {broker["id"]: broker for broker in snapshot.tick.brokers} if snapshot else {}
    partitions_by_reason: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for each in unread:
        row = rows.get(each.partition)
        named_brokers = (
            _replicas_down(row, brokers) if each.why == record_pages.NO_LEADER else _leader_of(row)
        )
        partitions_by_reason[each.why, each.detail, named_brokers].append(each.partition)
    return [
        _notice(why, partitions, named_brokers, brokers, detail)
        for (why, detail, named_brokers), partitions in partitions_by_reason.items()
    ]


def no_leader(row: PartitionRow, snapshot: Snapshot) -> UnreadNotice:
    """The notice for a partition without a leader in the newest sample."""
    brokers = {broker["id"]: broker for broker in snapshot.tick.brokers}
    down = _replicas_down(row, brokers)
    return _notice(record_pages.NO_LEADER, [row.partition], down, brokers, detail="")


def _leader_of(row: PartitionRow | None) -> tuple[int, ...]:
    return (row.leader,) if row is not None and row.leader >= 0 else ()


def _replicas_down(
    row: PartitionRow | None, brokers: Mapping[int, Mapping[str, Any]]
) -> tuple[int, ...]:
    """The partition's brokers that are down."""
    replicas = row.replicas if row is not None else []
    return tuple(id for id in replicas if not brokers.get(id, {}).get("up"))


def _notice(
    why: str,
    partitions: Sequence[int],
    named_brokers: Sequence[int],
    brokers: Mapping[int, Mapping[str, Any]],
    detail: str,
) -> UnreadNotice:
    """`named_brokers`: without a leader, the replicas that are down; else the leader, if known."""
    n, params = len(partitions), {"list": ranges(partitions)}
    if why == record_pages.NO_LEADER:
        title = ngettext(
            "Partition %(list)s has no leader.", "Partitions %(list)s have no leader.", n
        )
        return UnreadNotice(
            " ".join([title % params, *_down_sentences(named_brokers, brokers)]),
            _advice(named_brokers),
        )
    if why == record_pages.TOO_MUCH:
        title = ngettext(
            "Partition %(list)s was only partly read.",
            "Partitions %(list)s were only partly read.",
            n,
        )
        text = _(
            "The limit of size or time for one page was reached. Choose one partition and "
            "continue with “Older” or “Newer”, or read fewer records."
        )
        return UnreadNotice(title % params, text)
    title = ngettext(
        "Partition %(list)s could not be read.", "Partitions %(list)s could not be read.", n
    )
    if why == record_pages.FAILED:
        return UnreadNotice(title % params, sentence(detail))
    lines = [title % params]
    if named_brokers and brokers.get(named_brokers[0], {}).get("up"):
        text = _("Its leader, broker %(id)d, sent no valid answer in time.")
        lines.append(text % {"id": named_brokers[0]})
    elif named_brokers:
        lines.append(_("Its leader, broker %(id)d, does not answer.") % {"id": named_brokers[0]})
    text = _("Try again in a moment. If the problem remains, check the broker's log.")
    return UnreadNotice(" ".join(lines), text)


def _down_sentences(down: Sequence[int], brokers: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """A sentence for each broker that is down, with the time if known."""
    lines = []
    for id in down:
        since_ms = brokers.get(id, {}).get("down_since_ms")
        text = _("Broker %(id)d is down since %(at)s.") if since_ms else _("Broker %(id)d is down.")
        lines.append(text % {"id": id, "at": times.moment(since_ms)})
    return lines


def _advice(down: Sequence[int]) -> str:
    if not down:
        return _("The cluster elects a leader as soon as a broker with an in-sync replica is up.")
    return ngettext(
        "Start the broker: the records can be read again when it is back.",
        "Start the brokers: the records can be read again when they are back.",
        len(down),
    )


def ranges(partitions: Iterable[int]) -> str:
    """The first _RANGES_MAX ranges of the numbers: 0–2, 5."""
    found = ranges_of(partitions)
    texts = [_range_text(first, last) for first, last in found[:_RANGES_MAX]]
    return ", ".join(texts) + (" …" if len(found) > _RANGES_MAX else "")


def _range_text(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}, {last}" if last == first + 1 else f"{first}–{last}"
