"""The log diagram: the segments of a log, to scale, as one bar that the template draws. Pure.

x coordinates and widths are in percent, so that the diagram fills its card while its texts keep
their size; y coordinates and heights are in pixels.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.segments.compression import Compression
from console.segments.log_diagram_axis_labels import AxisLabel, offset_labels, time_labels
from console.segments.log_diagram_marks import CHARACTER_PERCENT, GROUP, Mark, with_label_rows
from console.segments.log_diagram_scale import Scale
from console.ui import numbers, times

Json = dict[str, Any]

ROW_PX, FILE_PX, AXES_PX = 15, 42, 56
_TIMES_PX = 26  # from the files to the axis of times
_PADDING_PERCENT = 0.7  # of a label in a file


@dataclass(frozen=True, slots=True)
class DiagramFile:
    """The log file of a segment. `size` and `codec` are labels, empty if they have no room.

    `tone` is looked-up, active, or by the codec: main (LogDiagram.main_codec), other or unknown.
    """

    base_offset: int
    x: float
    width: float
    tone: str
    is_due: bool
    size: str
    codec: str
    title: str


@dataclass(frozen=True, slots=True)
class LogDiagram:
    """`main_codec` is the codec of most bytes; `other_codecs` are separated by commas."""

    files: list[DiagramFile]
    marks: list[Mark]
    offsets: list[AxisLabel]
    times: list[AxisLabel]
    main_codec: str
    other_codecs: str

    @property
    def top(self) -> int:
        """The y coordinate of the files, which are below the labels."""
        rows = max((mark.row + 1 for mark in self.marks if mark.label), default=0)
        return ROW_PX * rows + (10 if self.marks else 2)

    @property
    def file_height(self) -> int:
        return FILE_PX

    @property
    def axes_height(self) -> int:
        return AXES_PX

    @property
    def bottom(self) -> int:
        return self.top + FILE_PX

    @property
    def time_axis(self) -> int:
        """The y coordinate of the axis of times."""
        return self.bottom + _TIMES_PX

    @property
    def height(self) -> int:
        return self.bottom + AXES_PX

    @property
    def has_unknown_codec(self) -> bool:
        return any(file.tone == "unknown" for file in self.files)

    @property
    def has_due(self) -> bool:
        return any(file.is_due for file in self.files)

    @property
    def has_groups(self) -> bool:
        return any(mark.kind == GROUP for mark in self.marks)

    @property
    def label_rows(self) -> list[tuple[Mark, int]]:
        """Each mark with the y coordinate of its label, or of its dot if it has none."""
        return [
            (mark, self.top - 10 - ROW_PX * mark.row if mark.label else self.top)
            for mark in self.marks
        ]


def log_diagram_of(
    segments: Sequence[Json], scale: Scale, marks: Sequence[Mark], looked_up: int | None = None
) -> LogDiagram:
    """`segments` as in PartitionLog; `looked_up`: the base offset of the segment of a look-up."""
    sizes: Counter[str] = Counter()
    for each in segments:
        sizes[each["compression"].name] += each["size_bytes"]
    codecs = [codec for codec, _size in sizes.most_common() if codec]
    main = codecs[0] if codecs else ""
    files = [
        _file(each, scale.edges[n], scale.edges[n + 1], main, looked_up)
        for n, each in enumerate(segments)
    ]
    return LogDiagram(
        files,
        with_label_rows(marks),
        offset_labels(scale),
        time_labels(scale),
        main,
        ", ".join(codecs[1:]),
    )


def _file(segment: Json, start: float, end: float, main: str, looked_up: int | None) -> DiagramFile:
    width = round(end - start, 3)
    size, codec = numbers.size(segment["size_bytes"]), str(segment["compression"])
    if segment["is_rounded"]:
        size = _("about %(size)s") % {"size": size}
    name = segment["compression"].name
    tone = "main" if name == main else "other" if name else "unknown"
    if segment["active"]:
        tone = "active"
    if segment["base_offset"] == looked_up:
        tone = "looked-up"
    return DiagramFile(
        segment["base_offset"], start, width, tone, segment["is_due"],
        size if _fits(size, width) else "", codec if name and _fits(codec, width) else "",
        _title(segment, size, codec),
    )  # fmt: skip


def _fits(label: str, width: float) -> bool:
    return CHARACTER_PERCENT * len(label) + _PADDING_PERCENT <= width


def _title(segment: Json, size: str, codec: str) -> str:
    """All that is known of a segment, a line for each."""
    first, latest = segment["first_timestamp_ms"], segment["largest_timestamp_ms"]
    lines = [
        _("File %(name)s.log: %(size)s") % {"name": f"{segment['base_offset']:020d}", "size": size},
        _("Offsets %(first)s to %(last)s") % {
            "first": numbers.count(segment["base_offset"]),
            "last": numbers.count(max(segment["next_offset"] - 1, segment["base_offset"])),
        },
        _("Timestamps %(first)s to %(last)s") % {
            "first": times.moment(first), "last": times.moment(latest),
        },
        _compression_line(segment["compression"], codec),
    ]  # fmt: skip
    interval_bytes = segment["index_interval_bytes"]
    if interval_bytes is not None:
        lines.append(_("An index entry every %(size)s") % {"size": numbers.size(interval_bytes)})
    if segment["active"]:
        lines.append(_("Active: new records are written to it"))
    if segment["is_due"]:
        lines.append(_("Due: deleted at the next check of the broker"))
    elif segment["due_at_ms"] is not None:
        lines.append(_("Due from %(time)s on") % {"time": times.moment(segment["due_at_ms"])})
    return "\n".join(lines)


def _compression_line(compression: Compression, text: str) -> str:
    if not compression.batches:
        return _("Compression: %(codec)s") % {"codec": text}
    return ngettext(
        "Compression: %(codec)s, of the first batch",
        "Compression: %(codec)s, of the first %(n)d batches",
        compression.batches,
    ) % {"codec": text, "n": compression.batches}
