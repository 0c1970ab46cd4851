"""The figures of every level of the history, computed once more: plain Python, dicts and loops.

It starts from the samples of every key at every tick (reference_samples.py) and looks at all ticks
of a bucket. It knows nothing of rows that are left out but which rows there must be.
"""

from dataclasses import dataclass, field

from monitoring.history.table_specs import EXISTS, UNANSWERED, Table

HOUR_MS = 3_600_000


@dataclass
class Sample:
    """A key at one tick; `known`, `rated`: the counters that are known, and that have a rate."""

    facts: dict
    gauges: dict
    amounts: dict
    known: set
    rated: set = field(default_factory=set)
    is_unanswered: bool = False


@dataclass
class Step:
    """A tick with status ok; `step_ms` is None where it has no rates."""

    at_ms: int
    step_ms: int | None
    samples: dict  # table name → {key: Sample}


def level_rows(
    table: Table, steps: list[Step], bucket_ms: int, all_keys_every_ms: int
) -> dict[tuple, dict]:
    """{(at_ms, *key): row}: of keys that changed in the bucket, and of all that exist at the first
    tick of each `all_keys_every_ms`."""
    keys = {key for step in steps for key in step.samples[table.name]}
    rows = {}
    for key in keys:
        samples = [step.samples[table.name].get(key) for step in steps]
        for at_ms, places in _buckets(steps, bucket_ms).items():
            changes = [_has_changed(samples, place, steps[place]) for place in places]
            is_needed = any(
                samples[place] and (place == 0 or _is_first(steps, place, all_keys_every_ms))
                for place in places
            )
            if any(changes) or is_needed:
                row = _row(table, steps, samples, places)
                rows[at_ms, *key] = {"repeated": not any(changes)} | row
    return rows


def _buckets(steps: list[Step], bucket_ms: int) -> dict[int, list[int]]:
    found: dict = {}
    for place, step in enumerate(steps):
        found.setdefault(step.at_ms // bucket_ms * bucket_ms, []).append(place)
    return found


def _is_first(steps: list[Step], place: int, all_keys_every_ms: int) -> bool:
    return steps[place].at_ms // all_keys_every_ms != steps[place - 1].at_ms // all_keys_every_ms


def _has_changed(samples: list[Sample | None], place: int, step: Step) -> bool:
    now, before = samples[place], samples[place - 1] if place else None
    if now is None or before is None:
        return now is not before
    return (
        now.facts != before.facts
        or now.gauges != before.gauges
        or now.known != before.known
        or now.is_unanswered != before.is_unanswered
        or any(now.amounts.values())
        or now.rated != (now.known if step.step_ms else set())
    )


def _row(table: Table, steps: list[Step], samples: list[Sample | None], places: list[int]) -> dict:
    before = samples[places[0] - 1] if places[0] else None
    inside = [samples[place] for place in places]
    there = [sample for sample in inside if sample]
    latest = [sample for sample in samples[: places[-1] + 1] if sample][-1]
    row = {
        "state_before": _state(table, before),
        "state": _state(table, inside[-1]),
        "samples": len(there),
        **latest.facts,
    }
    if table.has_answers:
        unanswered = [p for p in places if samples[p] and samples[p].is_unanswered]
        row["unanswered_ms"] = sum(steps[place].step_ms or 0 for place in unanswered)
    for gauge in table.gauges:
        values = [sample.gauges[gauge] for sample in there if sample.gauges[gauge] is not None]
        row |= {
            f"{gauge}_before": before.gauges[gauge] if before else None,
            f"{gauge}_last": inside[-1].gauges[gauge] if inside[-1] else None,
            f"{gauge}_low": min(values, default=None),
            f"{gauge}_high": max(values, default=None),
            f"{gauge}_sum": sum(values),
            f"{gauge}_samples": len(values),
        }
    for counter in table.counters:
        rated = [
            (samples[place].amounts[counter], steps[place].step_ms)
            for place in places
            if samples[place] and counter in samples[place].rated
        ]
        rates = [amount * 1000 / step_ms for amount, step_ms in rated]
        row |= {
            counter: sum(sample.amounts[counter] for sample in there),
            f"{counter}_rated": sum(amount for amount, _ in rated),
            f"{counter}_rated_ms": sum(step_ms for _, step_ms in rated),
            f"{counter}_low": min(rates, default=None),
            f"{counter}_high": max(rates, default=None),
        }
    return row


def _state(table: Table, sample: Sample | None) -> int:
    if sample is None:
        return 0
    answer = UNANSWERED if sample.is_unanswered else 0
    return EXISTS + answer + sum(2 << table.counters.index(counter) for counter in sample.known)
