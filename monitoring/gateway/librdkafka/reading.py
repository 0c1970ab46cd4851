"""Reads records by librdkafka: only in a worker process (child.py).

A consumer without a group reads from assigned positions: nothing is committed, no group appears
on the cluster.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from monitoring.gateway.browse import (
    FAILED,
    NO_LEADER,
    SILENT,
    TOO_MUCH,
    Portion,
    ReadRequest,
    Unread,
)
from monitoring.gateway.errors import NotFound, OffsetOutOfRange
from monitoring.gateway.librdkafka.errors import translate, translated
from monitoring.gateway.records import Headers, RecordRow, by_offset, by_time
from monitoring.gateway.walk import Newest, Walk

_WINDOW_RECORDS_MAX = 5000  # that the windows of all partitions hold at one time


def read(request: ReadRequest) -> Portion:
    """As `Browse.read` says."""
    topic, partition, offset = request.topic, request.partition, request.offset
    reset = "earliest" if offset is None else "error"
    with translated(), _consumer(request.bootstrap_servers, reset) as consumer:
        leaders = _leaders(consumer, topic, request.timeout_s)
        if partition is not None and partition not in leaders:
            raise NotFound(f"topic {topic} has no partition {partition}")
        asked = sorted(leaders) if partition is None else [partition]
        unread = [Unread(number, NO_LEADER) for number in asked if leaders[number] < 0]
        led = [number for number in asked if leaders[number] >= 0]
        unread += [Unread(number, SILENT) for number in led if number not in request.spans]
        walked = {number: request.spans[number] for number in led if number in request.spans}
        reading = _Reading(consumer, topic, request.max_bytes, request.timeout_s)
        if not walked:
            portion = Portion(())
        elif offset is not None:
            portion = reading.upwards(led[0], walked[led[0]], offset, request.limit)
        elif len(asked) == 1:
            portion = reading.downwards(led[0], walked[led[0]], request.before, request.limit)
        else:
            portion = reading.newest(walked, request.limit)
    missing = sorted([*unread, *portion.unread], key=lambda gap: gap.partition)
    return replace(portion, unread=tuple(missing))


@contextmanager
def _consumer(bootstrap_servers: str, reset: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "client.id": "aerie-browse",
            "group.id": "aerie-browse",  # named by librdkafka's rules, never joined
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": reset,
            "fetch.wait.max.ms": 50,
            "fetch.message.max.bytes": 1024 * 1024,
            "queued.max.messages.kbytes": 16 * 1024,
            "log_level": 0,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _leaders(consumer: Consumer, topic: str, timeout_s: float) -> dict[int, int]:
    """Partition → the broker that leads it now, −1 = none."""
    told = consumer.list_topics(topic, timeout=timeout_s).topics[topic]
    if told.error is not None:
        raise translate(told.error)
    return {number: place.leader for number, place in told.partitions.items()}


class _Reading:
    """One read: its consumer and its bounds."""

    def __init__(self, consumer: Consumer, topic: str, max_bytes: int, timeout_s: float) -> None:
        self._consumer, self._topic, self._max_bytes = consumer, topic, max_bytes
        self._deadline_s = time.monotonic() + timeout_s
        self._heard: set[int] = set()  # partitions that answered
        self._failed: dict[int, Unread] = {}

    def upwards(self, partition: int, span: range, offset: int, limit: int) -> Portion:
        """From `offset` on."""
        if not span.start <= offset <= span.stop:
            raise OffsetOutOfRange(_told(self._topic, partition, span))
        older = offset if offset > span.start else None
        if offset == span.stop:
            return Portion((), (), partition, older)
        rows: list[RecordRow] = []
        size_bytes, is_end = 0, False
        self._assign({partition: OFFSET_BEGINNING if offset == span.start else offset})
        while len(rows) < limit and size_bytes < self._max_bytes and not is_end:
            message = self._next(1)
            if message is None:
                break
            if message.error() is not None:
                is_end = True
            else:
                rows.append(_row(message))
                size_bytes += rows[-1].size_bytes
        if rows and rows[0].offset > span.start:
            older = rows[0].offset
        newer = rows[-1].offset + 1 if rows and not is_end else None
        unread = () if is_end or len(rows) == limit else (self._gap(partition),)
        newer = newer if newer is not None and newer < span.stop else None
        return Portion(tuple(rows), unread, partition, older, newer)

    def downwards(self, partition: int, span: range, before: int | None, limit: int) -> Portion:
        """The newest ones, below `before`."""
        end = span.stop if before is None else min(before, span.stop)
        walk = Walk(partition, span.start, end, limit)
        found = Newest([walk], limit + 1, by_offset)  # one more tells that there are older ones
        self._walk(found)
        rows = found.rows[:limit]
        older = None
        if len(found.rows) > limit:
            older = rows[-1].offset
        elif not walk.is_over and walk.end < end:
            older = walk.end
        newer = rows[0].offset + 1 if rows else end
        unread = () if len(rows) == limit else self._gaps(found)
        is_last = before is None or newer >= span.stop
        return Portion(tuple(rows), unread, partition, older, None if is_last else newer)

    def newest(self, spans: Mapping[int, range], limit: int) -> Portion:
        """The newest ones of several partitions."""
        each = max(1, min(limit, _WINDOW_RECORDS_MAX // len(spans)))
        walks = [Walk(number, span.start, span.stop, each) for number, span in spans.items()]
        found = Newest(walks, limit, by_time)
        self._walk(found)
        return Portion(tuple(found.rows), self._gaps(found))

    def _gaps(self, found: Newest) -> tuple[Unread, ...]:
        return tuple(self._gap(walk.partition) for walk in found.unfinished())

    def _gap(self, partition: int) -> Unread:
        why = TOO_MUCH if partition in self._heard else SILENT
        return self._failed.get(partition, Unread(partition, why))

    def _walk(self, found: Newest) -> None:
        """Until the newest are found, all is read, or a bound is reached."""
        while time.monotonic() < self._deadline_s:
            bytes_left = self._max_bytes - found.size_bytes
            walks = [walk for walk in found.unfinished() if walk.partition not in self._failed]
            if not walks or bytes_left <= 0:
                break
            found.take(self._windows(walks, bytes_left))

    def _windows(
        self, walks: Sequence[Walk], bytes_left: int
    ) -> list[tuple[Walk, list[RecordRow] | None]]:
        """The windows that were read in time; None = it holds more than its share of the bounds."""
        records_max = max(1, _WINDOW_RECORDS_MAX // len(walks))
        bytes_max = bytes_left // len(walks)
        windows = {walk.partition: _Window(walk) for walk in walks}
        done: list[tuple[Walk, list[RecordRow] | None]] = []
        held_bytes = 0
        self._assign({walk.partition: walk.start for walk in walks})
        while windows:
            message = self._next(len(walks))
            if message is None:
                break
            for number in self._failed:
                windows.pop(number, None)
            number = _partition(message)
            window = windows.get(number)
            if window is None:
                continue
            held_bytes -= window.size_bytes
            is_whole = window.take(message)
            if is_whole or len(window.rows) >= records_max or window.size_bytes > bytes_max:
                done.append((window.walk, window.rows if is_whole else None))
                del windows[number]
            held_bytes += window.size_bytes if is_whole or number in windows else 0
            if held_bytes >= bytes_left:  # of many, each may be within its share
                done += [(window.walk, None) for window in windows.values() if window.rows]
                break
        return done

    def _assign(self, offsets: Mapping[int, int]) -> None:
        places = [TopicPartition(self._topic, number, at) for number, at in offsets.items()]
        self._consumer.assign(places)

    def _next(self, partitions: int) -> Message | None:
        """A record, the end of a partition, or None when the time is up.

        The error of one among several partitions is kept in `_failed`.
        """
        # A negative time-out would wait for ever.
        while (left_s := self._deadline_s - time.monotonic()) > 0:
            message = self._consumer.poll(min(left_s, 0.5))
            if message is None:
                continue
            error, number = message.error(), _partition(message)
            if error is None or error.code() == KafkaError._PARTITION_EOF:
                self._heard.add(number)
            elif partitions == 1:
                raise KafkaException(error)
            else:
                self._failed.setdefault(number, Unread(number, FAILED, translate(error).message))
            return message
        return None


class _Window:
    """The records of a walk's next window, as they come."""

    __slots__ = ("rows", "size_bytes", "walk")

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.rows: list[RecordRow] = []
        self.size_bytes = 0

    def take(self, message: Message) -> bool:
        """Whether the window was read to its end."""
        if message.error() is not None or _offset(message) >= self.walk.end:
            return True
        row = _row(message)
        self.rows.append(row)
        self.size_bytes += row.size_bytes
        return row.offset == self.walk.end - 1


def _told(topic: str, partition: int, span: range) -> str:
    if span:
        return f"partition {partition} of {topic} holds offsets {span.start} to {span.stop - 1}"
    return f"partition {partition} of {topic} is empty; the next offset is {span.stop}"


def _partition(message: Message) -> int:
    """-1 = an error that is not of one partition."""
    number = message.partition()
    return -1 if number is None else number


def _offset(message: Message) -> int:
    offset = message.offset()
    return -1 if offset is None else offset


def _row(message: Message) -> RecordRow:
    kind, timestamp_ms = message.timestamp()
    return RecordRow(
        partition=_partition(message),
        offset=_offset(message),
        timestamp_ms=timestamp_ms if kind else None,
        key=message.key(),
        value=message.value(),
        headers=cast(Headers, tuple(message.headers() or ())),
    )
