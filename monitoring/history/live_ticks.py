"""The decoded ticks of the live window that charts read.

They stay in memory for the charts of other keys, so each tick of a cluster is fetched and decoded
once. If they need more than _BYTES_MAX together, the oldest ones are fetched and decoded again.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick, decode
from monitoring.ticks.tick_stream import LIVE_MS

_BYTES_MAX = 96 << 20  # 90 seconds of 40,000 partitions and 2,000 groups
# Columns that the history's rows do not depend on (stored_partition_rows.py, stored_group_rows.py).
_UNUSED_OF_PARTITIONS = ("cluster", "tick", "at_ms", "messages_in")
_UNUSED_OF_GROUPS = (
    "cluster", "tick", "at_ms", "protocol_type", "member_id", "client_id", "member_host",
)  # fmt: skip


@dataclass
class Window:
    """All ticks of a cluster that began at `begin_ms` or later."""

    slug: str
    begin_ms: int
    is_cut: bool = False  # older ticks were dropped: there was no room for them
    held_bytes: int = 0
    _ticks: deque[Tick] = field(default_factory=deque)
    _last_checksum: int = 0  # of the newest tick's content: a Redis that was emptied has another

    def fetch_new(self) -> bool:
        """Add the newest ticks of Redis. Returns False if Redis does not have the ticks of before.

        Raises RedisDown.
        """
        is_same = not self._ticks
        start_ms = self._ticks[-1].start_ms if self._ticks else self.begin_ms
        for fields in tick_stream.entries(self.slug, start_ms):
            content = zlib.crc32(fields[b"partitions"], zlib.crc32(fields[b"groups"]))
            content = zlib.crc32(fields[b"meta"], content)
            if is_same:
                self._add(self._decoded(fields), content)
            elif content != self._last_checksum:
                return False
            is_same = True
            _drop_oldest()
        return is_same

    def ticks_since(self, from_ms: int) -> Iterator[Tick]:
        """The ticks that began at `from_ms` or later. Raises RedisDown."""
        if from_ms < self.begin_ms:
            for fields in tick_stream.entries(self.slug, from_ms, self.begin_ms):
                yield self._decoded(fields)
        yield from [tick for tick in self._ticks if tick.start_ms >= from_ms]

    def drop_oldest(self) -> None:
        tick = self._ticks.popleft()
        self.held_bytes -= _bytes_of(tick)
        self.begin_ms = tick.start_ms + 1

    def drop_expired(self) -> None:
        """Drop the ticks that have left the live window."""
        while self._ticks and self._ticks[0].start_ms < self._ticks[-1].start_ms - LIVE_MS:
            self.drop_oldest()

    def _add(self, tick: Tick, checksum: int) -> None:
        self._ticks.append(tick)
        self.held_bytes += _bytes_of(tick)
        self._last_checksum = checksum

    def _decoded(self, fields: Mapping[bytes, bytes]) -> Tick:
        tick = decode(fields)
        return replace(
            tick,
            partitions=tick.partitions.drop_columns(_UNUSED_OF_PARTITIONS),
            groups=tick.groups.drop_columns(_UNUSED_OF_GROUPS),
        )


_windows: OrderedDict[str, Window] = OrderedDict()


def window(slug: str, begin_ms: int) -> Window:
    """The window with the newest ticks; another object than before if Redis has other ticks.

    Without Redis it has those that are known. Callers must hold a lock. Raises RedisDown.
    """
    found = _windows.pop(slug, None)
    if found is None or (found.begin_ms > begin_ms and not found.is_cut):
        found = Window(slug, begin_ms)
    _windows[slug] = found  # the last one: used last
    if not found.fetch_new():
        found = _windows[slug] = Window(slug, begin_ms)
        found.fetch_new()
    found.drop_expired()
    return found


def _bytes_of(tick: Tick) -> int:
    return int(tick.partitions.nbytes + tick.groups.nbytes)


def _drop_oldest() -> None:
    """Drop ticks until there is room, of the windows that were used least recently first."""
    while sum(one.held_bytes for one in _windows.values()) > _BYTES_MAX:
        name, oldest = next((n, w) for n, w in _windows.items() if w.held_bytes)
        oldest.drop_oldest()
        oldest.is_cut = True
        if not oldest.held_bytes:
            del _windows[name]


def forget() -> None:
    """Empty the cache, for tests."""
    _windows.clear()
