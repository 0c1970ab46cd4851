"""Warnings about brokers that are overloaded, or have much more to do than the others. Pure.

Each names its limit. All that they need is in the samples: the CPU of brokerd's process, the disks,
and how much more a broker leads, receives and sends than the others. Queues and latencies of
requests are not sampled: the page of a broker's requests reads them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.ui import numbers
from monitoring.read_model.row_types import BrokerRow

DISK_WARN_PERCENT, DISK_BAD_PERCENT = 85, 95
# brokerd has one event loop: near one core its requests wait, however many cores the machine has.
CPU_CORES_MAX = 0.9
# Compared with the mean of the brokers that are up. Smaller differences are ignored: in small or
# quiet clusters the ratio alone says little.
SKEW_MAX, LEADERS_ABOVE_MIN, BYTES_ABOVE_MIN = 1.5, 10, 1 << 20


@dataclass(frozen=True, slots=True)
class BrokerWarning:
    """One warning. `kind` is a short label, as on the overview; `title` is short and has the
    figure; `text` is a sentence with the limit."""

    tone: str  # bad or warn
    kind: str
    title: str
    text: str


def warnings_by_broker(brokers: Iterable[BrokerRow]) -> dict[int, list[BrokerWarning]]:
    """The warnings about each broker, the worst first; most brokers have none."""
    rows = list(brokers)
    up = [row for row in rows if row.up]
    return {
        row.id: [
            *_disk(row),
            *_cpu(row),
            *(_leaders(row, up) if row.up else ()),
            *(_bytes(row, up) if row.up else ()),
        ]
        for row in rows
    }


def disk_tone(used_percent: float | None) -> str:
    """How a disk that is used so far is shown: "bad", "warn", or "" below the limits."""
    if used_percent is None or used_percent < DISK_WARN_PERCENT:
        return ""
    return "bad" if used_percent >= DISK_BAD_PERCENT else "warn"


def _disk(row: BrokerRow) -> list[BrokerWarning]:
    used = row.disk_used_percent
    tone = disk_tone(used)
    if used is None or not tone:
        return []
    values = {"used": numbers.percent(used / 100), "warn": DISK_WARN_PERCENT}
    text = _(
        "%(used)s of its disk space is used (warning from %(warn)d %%). A broker stops when a disk "
        "is full."
    )
    title = _("disk %(used)s full") % values
    return [BrokerWarning(tone, _("Disk nearly full"), title, text % values)]


def _cpu(row: BrokerRow) -> list[BrokerWarning]:
    cores = row.cpu_cores_recent
    if cores is None or cores < CPU_CORES_MAX:
        return []
    values = {"cpu": numbers.percent(cores), "most": numbers.percent(CPU_CORES_MAX)}
    text = _(
        "Its process used %(cpu)s of a core in the last samples (warning from %(most)s). brokerd "
        "has one event loop, so requests wait."
    )
    return [BrokerWarning("warn", _("Overloaded"), _("CPU %(cpu)s") % values, text % values)]


def _leaders(row: BrokerRow, up: Sequence[BrokerRow]) -> list[BrokerWarning]:
    text = _(
        "It leads %(n)s partitions, %(times)s times the mean of the brokers that are up (warning "
        "from %(most)s times)."
    )
    times = _skew(row.leaders, [each.leaders for each in up], LEADERS_ABOVE_MIN)
    return _unequal(times, _("%(times)s × leaders"), text, numbers.count(row.leaders))


def _bytes(row: BrokerRow, up: Sequence[BrokerRow]) -> list[BrokerWarning]:
    rate = _bytes_rate(row)
    if rate is None:
        return []
    text = _(
        "It receives and sends %(n)s, %(times)s times the mean of the brokers that are up (warning "
        "from %(most)s times)."
    )
    times = _skew(rate, list(map(_bytes_rate, up)), BYTES_ABOVE_MIN)
    return _unequal(times, _("%(times)s × bytes"), text, numbers.size_rate(rate))


def _unequal(times: float | None, title: str, text: str, n: str) -> list[BrokerWarning]:
    if times is None:
        return []
    values = {"times": f"{times:.1f}", "n": n, "most": f"{SKEW_MAX:.1f}"}
    return [BrokerWarning("warn", _("Unequal load"), title % values, text % values)]


def _bytes_rate(row: BrokerRow) -> float | None:
    """Bytes in and out a second; None if one of them is unknown."""
    if row.bytes_in_rate is None or row.bytes_out_rate is None:
        return None
    return row.bytes_in_rate + row.bytes_out_rate


def _skew(own: float, all_of: Sequence[float | None], above_min: float) -> float | None:
    """How many times the mean it is; None if that is not much more, or a value is unknown."""
    known = [value for value in all_of if value is not None]
    if len(known) < 2 or len(known) < len(all_of):
        return None
    mean = sum(known) / len(known)
    is_skewed = mean > 0 and own >= SKEW_MAX * mean and own - mean >= above_min
    return own / mean if is_skewed else None
