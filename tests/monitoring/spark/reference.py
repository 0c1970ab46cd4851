"""The figures of "Throughput and lag", computed once more without Spark.

Plain Python over lists of dicts, written from the definitions and not from the transforms; the
tests hold the two against each other.
"""

import random
from collections import defaultdict
from itertools import pairwise


def throughput(rows: list[dict], bucket_ms: int, gap_ms: int) -> tuple[dict, dict]:
    """({topic: summary}, {(topic, bucket): (messages a minute, bytes a minute)})."""
    by_partition = defaultdict(list)
    for row in rows:
        by_partition[row["topic"], row["partition"]].append(row)
    steps: dict = defaultdict(list)  # topic → per partition, a list of steps
    amounts: dict = defaultdict(lambda: {"messages": [0, 0], "bytes": [0, 0], "is_new": False})
    ticks = sorted({row["at_ms"] for row in rows})
    for (topic, partition), samples in by_partition.items():
        samples = sorted(samples, key=lambda row: row["at_ms"])
        absent_at = max((at for at in ticks if at < samples[0]["at_ms"]), default=None)
        walked = _walk(samples, absent_at)
        # The first sample has nothing before it, unless the partition was made since.
        is_new = absent_at is not None
        told = walked[:1] if is_new and walked[0]["messages"][0] is not None else []
        steps[topic].append([*told, *walked[1:]])
        for number, step in enumerate(walked):
            cell = amounts[topic, step["at_ms"] // bucket_ms * bucket_ms, partition]
            cell["is_new"] |= is_new and number == 0
            for what in ("messages", "bytes"):
                amount, step_ms = step[what]
                if amount is not None and 0 < step_ms <= gap_ms:
                    cell[what][0] += amount
                    cell[what][1] += step_ms
    times, series = _per_topic(amounts)
    summaries = {
        topic: _summary(
            [row for row in rows if row["topic"] == topic], partitions, times, series, topic
        )
        for topic, partitions in steps.items()
    }
    return summaries, series


def _walk(samples: list[dict], absent_at: int | None) -> list[dict]:
    """Each sample with what came since the last known value: (amount or None, ms since)."""
    end = size = None
    if absent_at is not None:
        end, size = (0, absent_at), (0, absent_at, samples[0]["leader"])
    walked = []
    for row in samples:
        at = row["at_ms"]
        step = {"at_ms": at, "messages": (None, 0), "bytes": (None, 0)}
        step |= {"reset": False, "restarted": False}
        if row["log_end_offset"] is not None:
            if end is not None:
                step["reset"] = row["log_end_offset"] < end[0]
                if not step["reset"]:
                    step["messages"] = (row["log_end_offset"] - end[0], at - end[1])
            end = (row["log_end_offset"], at)
        if row["bytes_in"] is not None:
            if size is not None and (size[1] == absent_at or size[2] == row["leader"]):
                step["restarted"] = row["bytes_in"] < size[0]
                grown = row["bytes_in"] - (0 if step["restarted"] else size[0])
                step["bytes"] = (grown, at - size[1])
            size = (row["bytes_in"], at, row["leader"])
        walked.append(step)
    return walked


def _per_topic(amounts: dict) -> tuple[dict, dict]:
    """{(topic, bucket): how long it was seen} and {…: a minute}, each for messages and bytes."""
    cells = defaultdict(list)
    for (topic, bucket, _), cell in amounts.items():
        cells[topic, bucket].append(cell)
    kinds = ("messages", "bytes")
    times = {
        key: tuple(max(cell[what][1] for cell in group) for what in kinds)
        for key, group in cells.items()
    }
    rates = {
        key: tuple(_rate(group, what, time) for what, time in zip(kinds, times[key], strict=True))
        for key, group in cells.items()
    }
    return times, rates


def _rate(cells: list[dict], what: str, time_ms: int) -> float | None:
    if any(cell[what][1] == 0 for cell in cells):
        return None
    # One that was made meanwhile had nothing before; of another the rest is taken for the same.
    return sum(
        cell[what][0] * 60_000 / (time_ms if cell["is_new"] else cell[what][1]) for cell in cells
    )


def _summary(
    rows: list[dict], partitions: list[list[dict]], seen_ms: dict, series: dict, topic: str
) -> dict:
    times = [row["at_ms"] for row in rows]
    steps = [step for partition in partitions for step in partition]
    summary = {
        "partitions": len(partitions),
        "samples": len(set(times)),
        "first_at_ms": min(times),
        "last_at_ms": max(times),
        "resets": sum(step["reset"] for step in steps),
        "restarts": sum(step["restarted"] for step in steps),
    }
    for number, what in enumerate(("messages", "bytes")):
        total = _total([[step[what][0] for step in partition] for partition in partitions])
        known = [
            (rates[number], seen_ms[key][number])
            for key, rates in series.items()
            if key[0] == topic and rates[number] is not None
        ]
        held = sum(time for _, time in known)
        summary |= {
            what: total,
            f"{what}_per_minute_mean": sum(r * ms for r, ms in known) / held if held else None,
            f"{what}_per_minute_peak": max((rate for rate, _ in known), default=None),
            f"{what}_unknown": sum(step[what][0] is None for step in steps),
        }
    return summary


def _total(partitions: list[list[int | None]]) -> int | None:
    """The sum of what is known; None if that is nothing, or one partition is wholly unknown."""
    if any(steps and all(step is None for step in steps) for steps in partitions):
        return None
    known = [step for steps in partitions for step in steps if step is not None]
    return sum(known) if known else None


def group_ahead(rows: list[dict]) -> dict[str, tuple[int, int]]:
    """{group: the most partitions ahead of their ends at one sample, and the most offsets}."""
    ticks: dict = defaultdict(lambda: defaultdict(list))
    for row in rows:
        lag = row["lag"]
        ticks[row["group"]][row["at_ms"]] += [-lag] if lag is not None and lag < 0 else []
    return {
        group: (max(map(len, by_time.values())), max(map(sum, by_time.values())))
        for group, by_time in ticks.items()
    }


def group_lag(rows: list[dict]) -> dict[str, list[tuple[int, int | None]]]:
    """{group: [(at_ms, lag or None)] in order of time}."""
    ticks: dict = defaultdict(dict)
    for row in rows:
        ticks[row["group"]].setdefault(row["at_ms"], []).append(row)
    totals = {}
    for group, by_time in ticks.items():
        totals[group] = []
        for at, members in sorted(by_time.items()):
            lags = [row["lag"] for row in members if row["committed_offset"] is not None]
            totals[group].append(
                (at, None if not lags or None in lags else sum(max(lag, 0) for lag in lags))
            )
    return totals


def lag_summary(totals: list[tuple[int, int | None]], gap_ms: int) -> dict:
    known = sorted(lag for _, lag in totals if lag is not None)
    over = held = None
    for (at, lag), (later, _) in pairwise(totals):
        if lag is not None and later - at <= gap_ms:
            held = (held or 0) + later - at
            over = (over or 0) + (later - at if lag > 0 else 0)
    return {
        "lag_min": known[0] if known else None,
        "lag_mean": sum(known) / len(known) if known else None,
        "lag_p95": _percentile(known, 0.95),
        "lag_max": known[-1] if known else None,
        "lag_last": totals[-1][1],
        "over_zero_ms": over,
        "known_ms": held,
        "samples": len(totals),
        "unknown_samples": len(totals) - len(known),
    }


def _percentile(ordered: list[int], share: float) -> float | None:
    if not ordered:
        return None
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def a_bad_day(seed: int, ticks: int = 120) -> tuple[list[dict], list[dict]]:
    """Partition and group rows of a cluster to which everything happens.

    Missed ticks, a long outage, leaders that are gone or move, brokers that restart, a topic
    made anew, values that are not known, groups that never committed.
    """
    dice = random.Random(seed)
    start = 1_760_000_000_000
    state = {
        (topic, number): {
            "end": dice.randrange(1000),
            "bytes": dice.randrange(9999),
            "leader": number % 3 + 1,
        }
        for topic in ("orders", "clicks", "console.audit")
        for number in range(3)
    }
    partitions, groups = [], []
    for tick in range(ticks):
        at = start + tick * 5000 + dice.randrange(200)
        for key, now in state.items():
            _live(dice, now)
            if not (40 <= tick < 52 or dice.random() < 0.05):
                partitions.append(_partition_row(dice, at, key, now))
        if not (40 <= tick < 52 or dice.random() < 0.05):
            groups += _group_rows(dice, at, state)
    return partitions, groups


def _live(dice: random.Random, now: dict) -> None:
    count = dice.randrange(50)
    now["end"] += count
    now["bytes"] += count * 100
    event = dice.random()
    if event < 0.01:
        now["bytes"] = dice.randrange(200)
    elif event < 0.02:
        now["leader"] = dice.randrange(1, 4)
    elif event < 0.03:
        now["end"] = dice.randrange(5)


def _partition_row(dice: random.Random, at: int, key: tuple[str, int], now: dict) -> dict:
    gone = dice.random() < 0.03
    return {
        "at_ms": at,
        "topic": key[0],
        "partition": key[1],
        "leader": -1 if gone else now["leader"],
        "log_end_offset": None if gone else now["end"],
        "bytes_in": None if gone or (key[0] == "clicks" and key[1] == 2) else now["bytes"],
    }


def _group_rows(dice: random.Random, at: int, state: dict) -> list[dict]:
    rows = [
        {
            "at_ms": at,
            "group": "idle",
            "topic": None,
            "partition": None,
            "committed_offset": None,
            "lag": None,
        }
    ]
    for (topic, number), now in state.items():
        for group, behind in (("fast", dice.choice([0, 0, 3, -2])), ("slow", dice.randrange(500))):
            known = dice.random() > 0.02
            committed = None if (group, number) == ("slow", 1) else max(0, now["end"] - behind)
            lag = None if committed is None or not known else now["end"] - committed
            rows.append(
                {
                    "at_ms": at,
                    "group": group,
                    "topic": topic,
                    "partition": number,
                    "committed_offset": committed,
                    "lag": lag,
                }
            )
    return rows
