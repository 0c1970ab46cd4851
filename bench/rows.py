"""The rows of the table: which load, on which servers, and what brokerd is to reach."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench import cleaning, consuming
from bench.measured import MB, Load, Measured
from bench.producing import batches, small_from_many, small_pipelined, while_scraped
from bench.producing import with_librdkafka as produce
from bench.servers import BROKERD, KAFKA_NAME, VALIDATING, Server
from brokerd.protocol.compression import Codec

UNSCRAPED = "brokerd, not read"
NOT_CLEANING, KAFKA_NOT_CLEANING = "brokerd, not cleaning", f"{KAFKA_NAME}, not cleaning"


@dataclass(frozen=True, slots=True)
class Goal:
    """brokerd's rate and CPU time as multiples of the other's; None where nothing is asked."""

    rate: float | None = None
    cpu: float | None = None


def measured_together(_server: Server, _seconds: float) -> Measured:
    """The load of rows that have a run of their own."""
    raise RuntimeError("these rows are measured together")


@dataclass(frozen=True, slots=True)
class Contender:
    """Who is measured in a row: `label` in the table, `server` by its name."""

    label: str
    server: str
    load: Load = measured_together
    goal: Goal = Goal()


@dataclass(frozen=True, slots=True)
class Row:
    """One line, or one for each contender but the last, who is the measure of the others.

    `settles`: whether it is warmed up until two windows agree. `less_is_better`: the figure is a
    time or a size.
    """

    key: str
    name: str
    unit: str
    cpu_unit: str
    contenders: Sequence[Contender]
    less_is_better: bool = False
    settles: bool = True

    def of(self, contenders: Sequence[Contender]) -> "Row":
        """The same row with other contenders."""
        return replace(self, contenders=contenders)

    def said(self, one: Measured) -> str:
        """A measurement with its units, for a cell of the table."""
        digits = 0 if one.rate >= 100 else 2
        cost = f", {one.cpu:.2f} {self.cpu_unit}" if self.cpu_unit else ""
        return f"{one.rate:,.{digits}f} {self.unit}{cost}"


def _row(
    key: str,
    name: str,
    load: Load,
    goal: Goal,
    unit: str = "MB/s",
    cpu_unit: str = "CPU-s/GiB",
    *,
    validating: Goal | None = None,
    less_is_better: bool = False,
    settles: bool = True,
) -> Row:
    contenders = [Contender(BROKERD, BROKERD, load, goal)]
    if validating:
        contenders.append(Contender(VALIDATING, VALIDATING, load, validating))
    contenders.append(Contender(KAFKA_NAME, KAFKA_NAME, load))
    return Row(key, name, unit, cpu_unit, contenders, less_is_better, settles)


def _compressed(codec: Codec) -> Row:
    name = codec.name.lower()
    return _row(
        name, f"1 KiB records in 64 KiB batches with {name}, ready-made, 16 in flight",
        batches(64, 16, codec), Goal(1.5), validating=Goal(0.5),
    )  # fmt: skip


def _start(server: Server, _seconds: float) -> Measured:
    return Measured(*server.start_another())


def _memory(server: Server, _seconds: float) -> Measured:
    return Measured(server.rss_bytes() / MB, 0)


_scraped = while_scraped(small_pipelined)

ROWS: tuple[Row, ...] = (
    _row("start", "start to ready, empty", _start, Goal(0.5), "s", "CPU-s",
         less_is_better=True, settles=False),
    _row("produce", "produce 1 KiB, default batching, acks=1", produce(), Goal(1.5, 0.7)),
    _row("idempotent", "produce 1 KiB, idempotent",
         produce(acks="all", **{"enable.idempotence": "true"}), Goal(1.3, 1.0)),
    _row("produce-64k", "produce 1 KiB, 64 KiB batches",
         produce(**{"batch.size": 65_536}), Goal(2.5)),
    _row("produce-16k", "produce 1 KiB, 16 KiB batches",
         produce(**{"batch.size": 16_384}), Goal(1.8)),
    _row("produce-100b", "produce 100 B records, default batching", produce(100), Goal(1.0, 0.9)),
    _row("raw-64k", "1 KiB records in 64 KiB batches, ready-made, 16 in flight",
         batches(63, 16), Goal()),
    _row("small", "one 100 B record a request, ready-made, one connection, 64 in flight",
         small_pipelined, Goal(4), "req/s", "CPU-µs/req"),
    _row("small-32", "the same, 32 connections, one in flight each",
         small_from_many, Goal(1.0, 0.7), "req/s", "CPU-µs/req"),
    Row("metrics", "one 100 B record a request, 64 in flight, /metrics read each second",
        "req/s", "CPU-µs/req",
        (Contender(BROKERD, BROKERD, _scraped, Goal(0.98, 1.02)),
         Contender(UNSCRAPED, BROKERD, small_pipelined))),
    _row("consume", "consume 1 KiB, default", consuming.consume, Goal(1.0, 0.5)),
    _row("fetch", "fetch of 1 MiB, ready-made, 4 in flight",
         consuming.fetches(consuming.FETCH_BYTES, 4), Goal(1.2)),
    _row("fetch-small", "fetch of at most 1,000 B, ready-made, 16 in flight",
         consuming.fetches(consuming.SMALL_FETCH_BYTES, 16), Goal(5), "req/s", "CPU-µs/req"),
    _row("group", "consumer group of 8, 100 partitions, 1 KiB", consuming.group, Goal(1.0)),
    _row("partitions", "produce 1 KiB round-robin to 1,000 partitions",
         produce(partitions=1000, **{"queue.buffering.max.messages": 20_000}), Goal(1.0)),
    *(_compressed(codec) for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)),
    _row("cold", "consume 4 GB cold: p99 of 1 KiB acks=1 produce beside it",
         consuming.cold_reader_beside_producer, Goal(0.5), "ms", "CPU-s/GiB",
         less_is_better=True, settles=False),
    _row("clean", "compact 1.2 GB of 1 KiB records", cleaning.rate, Goal(0.5), "MB/s", "",
         settles=False),
    Row("cleaning", "the same: p99 of 1 KiB acks=1 produce beside it", "ms", "",
        (Contender(BROKERD, BROKERD, cleaning.producer_beside, Goal(1.2)),
         Contender(NOT_CLEANING, BROKERD, cleaning.producer_alone)),
        less_is_better=True, settles=False),
    Row("cleaning-kafka", "the same for Kafka", "ms", "",
        (Contender(KAFKA_NAME, KAFKA_NAME, cleaning.producer_beside),
         Contender(KAFKA_NOT_CLEANING, KAFKA_NAME, cleaning.producer_alone)),
        less_is_better=True, settles=False),
    _row("memory", "resident memory after all that", _memory, Goal(0.15), "MB", "",
         less_is_better=True, settles=False),
)  # fmt: skip
