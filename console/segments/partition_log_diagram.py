"""The log diagram of a partition on its page (log_diagram.py); the links to its other scales."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.segments import log_diagram_marks
from console.segments.log_diagram import LogDiagram, log_diagram_of
from console.segments.log_diagram_marks import Mark
from console.segments.log_diagram_scale import OFFSET, SIZE, TIME, Scale
from console.segments.read_segments import PartitionLog
from console.segments.record_lookup import LookUp
from console.ui import numbers, times


def scale_links(scale: Scale, query: Mapping[str, str]) -> list[dict[str, Any]]:
    """The links to the scales, which keep the look-up; `url` is "" for times that are not known."""
    look_up = {name: query[name] for name in ("offset", "at") if query.get(name)}
    titles = {SIZE: _("Size"), TIME: _("Time"), OFFSET: _("Offsets")}
    urls = {each: f"?{urlencode({'scale': each} | look_up)}" for each in titles}
    if not scale.times_ms:
        urls[TIME] = ""
    return [
        {"title": title, "active": each == scale.kind, "url": urls[each]}
        for each, title in titles.items()
    ]


def diagram(
    log: PartitionLog,
    scale: Scale,
    commits: Iterable[tuple[str, int]],
    lookup: LookUp | None,
    now_ms: int,
) -> LogDiagram:
    """The diagram of a log with at least one segment, and its marks.

    `commits`: pairs of a group and its committed offset.
    """
    found: list[Mark] = []
    if lookup:
        text = _("offset %(offset)s") % {"offset": numbers.count(lookup.offset)}
        found.append(Mark(log_diagram_marks.LOOKED_UP, scale.at_offset(lookup.offset), text, text))
    found += _retention_mark(log, scale, now_ms)
    found += log_diagram_marks.limit_marks(scale, _limits(log))
    found += log_diagram_marks.group_marks(scale, commits)
    looked_up = lookup.segment["base_offset"] if lookup else None
    return log_diagram_of(log.segments, scale, found, looked_up)


def _limits(log: PartitionLog) -> list[tuple[str, int]]:
    stable, high = log.last_stable, log.high_watermark
    limits = [(_("log start"), log.log_start), (_("high watermark"), high)]
    if stable != high:
        limits.append((_("last stable offset"), stable))
    return [(name, offset) for name, offset in limits if offset is not None]


def _retention_mark(log: PartitionLog, scale: Scale, now_ms: int) -> list[Mark]:
    """Records left of this mark are older than retention.ms; empty if it is not on the diagram."""
    kept_ms = log.retention.ms
    x = scale.at_time(now_ms - kept_ms) if kept_ms is not None else None
    if x is None or kept_ms is None:
        return []
    due = sum(each["is_due"] for each in log.segments)
    text = _("retention %(time)s") % {"time": times.duration(kept_ms / 1000)}
    files = ngettext("%(n)d file due", "%(n)d files due", due) % {"n": due}
    title = _("Records before this line are older than retention.ms. A file is deleted once its "
              "latest record is older, too.")  # fmt: skip
    return [Mark(log_diagram_marks.RETENTION, x, f"{text}: {files}" if due else text, title)]
