"""The values of every bucket, from rows that only have changes, compared with a plain loop."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history import bucket_values
from monitoring.history.bucket_values import Buckets, BucketValues
from monitoring.history.table_specs import (
    EXISTS,
    GROUP_TOPICS,
    LEVEL_TICKS,
    RAW_TICKS,
    UNANSWERED,
    UNANSWERED_MS,
)

STEP_MS = 5000
A_BUCKET = 3
BUCKET_MS = A_BUCKET * STEP_MS
GAUGE, COUNTER = "lag", "consumed"
BIT = GROUP_TOPICS.counter_bit(COUNTER)


@dataclass(frozen=True)
class Sample:
    """What is true of the key in one tick."""

    is_ok: bool
    has_step: bool
    is_known: bool
    gauge: int | None
    added: int
    is_answered: bool = True

    @property
    def step_ms(self):
        return STEP_MS if self.is_ok and self.has_step else None

    @property
    def state(self):
        return EXISTS | (BIT if self.is_known else 0) | (0 if self.is_answered else UNANSWERED)

    @property
    def unanswered_ms(self):
        return 0 if self.is_answered else self.step_ms or 0

    @property
    def amount(self):
        return self.added if self.is_known else 0


SAMPLES = st.lists(
    st.builds(
        Sample,
        is_ok=st.sampled_from([True, True, True, False]),
        has_step=st.sampled_from([True, True, False]),
        is_known=st.sampled_from([True, True, False]),
        gauge=st.sampled_from([None, 0, 4, 4, 9]),
        added=st.sampled_from([0, 0, 0, 5, 100]),
        is_answered=st.sampled_from([True, True, True, False]),
    ),
    min_size=1,
    max_size=4 * A_BUCKET,
)
BEFORE = Sample(is_ok=True, has_step=True, is_known=False, gauge=None, added=0)


@dataclass(frozen=True)
class Told:
    """A tick beside the sample before it, and whether the raw level has a row of it."""

    at_ms: int
    now: Sample
    before: Sample
    has_row: bool

    @property
    def is_rated(self):
        known = self.now.is_known and self.before.is_known
        return self.now.is_ok and known and self.now.step_ms is not None

    @property
    def rate(self):
        return self.now.amount * 1000 / STEP_MS if self.is_rated else None


def told(samples):
    found, before = [], None
    for number, now in enumerate(samples):
        held = before or BEFORE
        is_same = (now.gauge, now.state, now.amount) == (held.gauge, held.state, 0)
        has_row = now.is_ok and (before is None or not is_same)
        found.append(Told(number * STEP_MS, now, held, has_row))
        before = now if now.is_ok else before
    return found


def raw(ticks):
    rows = [
        {"at_ms": t.at_ms, "state_before": t.before.state, "state": t.now.state,
         "rated": BIT if t.is_rated else 0, f"{GAUGE}_before": t.before.gauge,
         GAUGE: t.now.gauge, COUNTER: t.now.amount}
        for t in ticks if t.has_row
    ]  # fmt: skip
    buckets = [
        {"at_ms": t.at_ms, "interval_ms": STEP_MS, "status": "ok" if t.now.is_ok else "gap",
         "step_ms": t.now.step_ms}
        for t in ticks
    ]  # fmt: skip
    of_rows = _some(GROUP_TOPICS.raw_schema, rows)
    return of_rows, Buckets.of_ticks(pa.Table.from_pylist(buckets, schema=RAW_TICKS))


def level(ticks):
    rows, buckets = [], []
    for first in range(0, len(ticks), A_BUCKET):
        inside = ticks[first : first + A_BUCKET]
        ok = [t for t in inside if t.now.is_ok]
        at_ms = first * STEP_MS
        rated_ms = sum(t.now.step_ms or 0 for t in ok)
        buckets.append({"at_ms": at_ms, "samples": len(ok), "rated_ms": rated_ms})
        if any(t.has_row for t in inside):
            rows.append({"at_ms": at_ms} | _row(ok))
    of_rows = _some(GROUP_TOPICS.level_schema, rows)
    ticks_table = pa.Table.from_pylist(buckets, schema=LEVEL_TICKS)
    return of_rows, Buckets.of_level(ticks_table)


def _row(ok):
    known = [t.now.gauge for t in ok if t.now.gauge is not None]
    rates = [t.rate for t in ok if t.is_rated]
    return {
        "state_before": ok[0].before.state,
        "state": ok[-1].now.state,
        UNANSWERED_MS: sum(t.now.unanswered_ms for t in ok),
        f"{GAUGE}_before": ok[0].before.gauge,
        f"{GAUGE}_last": ok[-1].now.gauge,
        f"{GAUGE}_low": min(known, default=None),
        f"{GAUGE}_high": max(known, default=None),
        f"{GAUGE}_sum": sum(known),
        f"{GAUGE}_samples": len(known),
        COUNTER: sum(t.now.amount for t in ok),
        f"{COUNTER}_rated": sum(t.now.amount for t in ok if t.is_rated),
        f"{COUNTER}_rated_ms": STEP_MS * len(rates),
        f"{COUNTER}_low": min(rates, default=None),
        f"{COUNTER}_high": max(rates, default=None),
    }


def _some(schema, rows):
    """The rows, with only the columns that they have."""
    if not rows:
        return schema.empty_table()
    return pa.Table.from_pylist(rows, schema=pa.schema([schema.field(name) for name in rows[0]]))


def expected(ticks, size, of):
    """Low, mean, high and last of each bucket. `of`: the value of a tick; None = not known."""
    found = []
    for first in range(0, len(ticks), size):
        ok = [t for t in ticks[first : first + size] if t.now.is_ok]
        values = [value for t in ok if (value := of(t)) is not None]
        mean = sum(values) / len(values) if values else None
        last = of(ok[-1]) if ok else None
        found.append((min(values, default=None), mean, max(values, default=None), last))
    return np.array(found, dtype=float)


def amounts(ticks, size, of="amount"):
    parts = [
        [t.now for t in ticks[n : n + size] if t.now.is_ok] for n in range(0, len(ticks), size)
    ]
    return [sum(getattr(now, of) for now in part) if part else np.nan for part in parts]


def shown(values: BucketValues):
    return np.column_stack([values.low, values.mean, values.high, values.last])


def has_a_sample(ticks):
    return any(t.now.is_ok for t in ticks)


@given(SAMPLES)
def test_raw_rows_have_the_values_of_every_tick(samples):
    ticks = told(samples)
    rows, buckets = raw(ticks)
    found = shown(bucket_values.gauge(rows, GAUGE, buckets))
    np.testing.assert_allclose(found, expected(ticks, 1, lambda t: t.now.gauge))
    found = shown(bucket_values.rate(rows, GROUP_TOPICS, COUNTER, buckets))
    np.testing.assert_allclose(found[:, :3], expected(ticks, 1, lambda t: t.rate)[:, :3])
    if has_a_sample(ticks):
        np.testing.assert_allclose(found[:, 3], amounts(ticks, 1))


@given(SAMPLES)
def test_rows_of_a_level_have_the_values_of_every_bucket(samples):
    ticks = told(samples)
    rows, buckets = level(ticks)
    found = shown(bucket_values.gauge(rows, GAUGE, buckets))
    np.testing.assert_allclose(found, expected(ticks, A_BUCKET, lambda t: t.now.gauge))
    found = shown(bucket_values.rate(rows, GROUP_TOPICS, COUNTER, buckets))
    np.testing.assert_allclose(found[:, :3], expected(ticks, A_BUCKET, lambda t: t.rate)[:, :3])
    if has_a_sample(ticks):
        np.testing.assert_allclose(found[:, 3], amounts(ticks, A_BUCKET))


@given(SAMPLES)
def test_the_mean_is_weighted_by_the_samples_in_which_the_value_is_known(samples):
    ticks = told(samples)
    rows, buckets = level(ticks)
    known = [t.now.gauge for t in ticks if t.now.is_ok and t.now.gauge is not None]
    values = bucket_values.gauge(rows, GAUGE, buckets)
    assert values.weight.sum() == len(known)
    np.testing.assert_allclose(np.nansum(values.mean * values.weight), sum(known))


@given(SAMPLES, st.integers(1, 11))
def test_values_before_the_first_row_of_a_range_are_those_before_it(samples, cut):
    ticks = told(samples)
    rows, buckets = raw(ticks)
    later = rows.filter(pc.field("at_ms") >= cut * STEP_MS)
    if not len(later):
        return
    inside = buckets.at_ms >= cut * STEP_MS
    kept = Buckets(*(getattr(buckets, name)[inside] for name in Buckets.__slots__))
    found = bucket_values.gauge(later, GAUGE, kept)
    np.testing.assert_allclose(
        shown(found), shown(bucket_values.gauge(rows, GAUGE, buckets))[inside]
    )


@given(SAMPLES)
def test_the_time_without_an_answer_is_that_of_the_samples_without_one(samples):
    ticks = told(samples)
    for (rows, buckets), size in ((raw(ticks), 1), (level(ticks), A_BUCKET)):
        found = bucket_values.unanswered(rows, buckets)
        if has_a_sample(ticks):
            np.testing.assert_allclose(found.last, amounts(ticks, size, "unanswered_ms"))


def test_the_time_without_an_answer_is_not_known_from_files_without_the_column():
    sample = Sample(is_ok=True, has_step=True, is_known=True, gauge=4, added=0)
    rows, buckets = level(told([sample] * 2 * A_BUCKET))  # a row, then a bucket without one
    older = rows.set_column(
        rows.column_names.index(UNANSWERED_MS), UNANSWERED_MS, pa.nulls(len(rows), pa.int64())
    )
    assert bucket_values.unanswered(rows, buckets).last.tolist() == [0, 0]
    assert np.isnan(bucket_values.unanswered(older, buckets).last).all()
