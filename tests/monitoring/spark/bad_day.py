"""A bad day of a cluster as ticks, and the figures of "Throughput and lag" in plain Python.

The figures are computed from every tick, written from the definitions and not from the transforms.
"""

import random
from collections import defaultdict

from monitoring.ticks.tick import Tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

START = 352_000_080  # the number of a tick a few minutes before a full hour
STEP_MAX_MS = 3 * INTERVAL_MS
PARTITIONS = [
    (topic, n) for topic in ("orders", "clicks", "console.audit", "quiet") for n in (0, 1)
]
GROUPS = {"fast": ("orders",), "slow": ("orders", "clicks"), "auditors": ("console.audit",)}


def a_bad_day(seed: int, ticks: int = 160, cluster: str = "local") -> list[Tick]:
    """Missed ticks, an outage, leaders that are gone or move, brokers that restart, logs that are
    cut, a topic that is created meanwhile, groups that never committed."""
    dice = random.Random(seed)
    state = {key: {"end": dice.randrange(1000), "bytes": 5, "leader": 1} for key in PARTITIONS}
    committed: dict = defaultdict(dict)
    found = []
    for n in range(ticks):
        for key, now in state.items():
            _live(dice, key, now)
        for group, topics in GROUPS.items():
            for key in [key for key in PARTITIONS if key[0] in topics]:
                behind = dice.choice([0, 0, 3, -2]) if group == "fast" else dice.randrange(200)
                if not (group == "slow" and key == ("clicks", 1)):
                    committed[group][key] = max(0, state[key]["end"] - behind)
        if not (40 <= n < 52) and dice.random() > 0.03:
            late = n >= 60
            found.append(_tick(dice, START + n, cluster, state, committed, late))
    return found


def _live(dice: random.Random, key: tuple[str, int], now: dict) -> None:
    if key[0] == "quiet":
        return
    count = dice.choice([0, dice.randrange(50)])
    now["end"], now["bytes"] = now["end"] + count, now["bytes"] + 100 * count
    event = dice.random()
    if event < 0.01:
        now["bytes"] = dice.randrange(200)
    elif event < 0.02:
        now["leader"] = dice.randrange(1, 4)
    elif event < 0.03:
        now["end"] = max(0, now["end"] - 5)


def _tick(dice, number, cluster, state, committed, late) -> Tick:
    partitions, ends = [], {}
    for (topic, n), now in state.items():
        if topic == "clicks" and not late:
            continue
        is_gone = dice.random() < 0.02
        ends[topic, n] = None if is_gone else now["end"]
        partitions.append({
            "topic": topic, "partition": n, "topic_id": f"id of {topic}",
            "leader": -1 if is_gone else now["leader"],
            "replicas": [1, 2], "isr": [1], "log_start_offset": 0,
            "log_end_offset": ends[topic, n], "bytes_in": None if is_gone else now["bytes"],
        })  # fmt: skip
    groups = [{"group": "idle", "state": "Empty"}]
    for group, offsets in committed.items():
        groups += [
            {"group": group, "state": "Stable", "topic": key[0], "partition": key[1],
             "committed_offset": offset, "log_end_offset": ends.get(key)}
            for key, offset in offsets.items()
        ]  # fmt: skip
    return make_tick(number, cluster=cluster, partitions=partitions, groups=groups)


def topics_of(ticks: list[Tick], from_ms: int, to_ms: int) -> dict[str, dict]:
    """{topic: its figures in the range}; `ticks` are all that were ever sampled."""
    last_end: dict = {}
    known_before: set = set()
    there_before: set | None = None
    rates, amounts = defaultdict(list), defaultdict(int)
    before_ms = None
    for tick in ticks:
        rows = tick.partitions.to_pylist()
        step_ms = None if before_ms is None else tick.at_ms - before_ms
        inside = from_ms <= tick.at_ms < to_ms
        by_topic = defaultdict(list)
        for row in rows:
            key = (row["topic"], row["partition"])
            is_new = there_before is not None and key not in there_before
            if is_new:
                last_end[key] = row["log_start_offset"]
            end, amount, is_rate = row["log_end_offset"], 0, False
            if end is not None and key in last_end:
                grown = end - last_end[key]
                amount = max(grown, 0)
                is_rate = grown >= 0 and (key in known_before or is_new)
            if end is not None:
                last_end[key] = end
            by_topic[row["topic"]].append((amount, is_rate))
        for topic, steps in by_topic.items():
            if inside:
                amounts[topic] += sum(amount for amount, _ in steps)
                if all(is_rate for _, is_rate in steps) and step_ms and step_ms <= STEP_MAX_MS:
                    rates[topic].append((sum(amount for amount, _ in steps), step_ms, tick.at_ms))
        there_before = {(row["topic"], row["partition"]) for row in rows}
        known_before = {
            (row["topic"], row["partition"]) for row in rows if row["log_end_offset"] is not None
        }
        before_ms = tick.at_ms
    return {topic: _throughput(amount, rates[topic]) for topic, amount in amounts.items()}


def _throughput(amount: int, rates: list[tuple[int, int, int]]) -> dict:
    rated_ms = sum(step_ms for _, step_ms, _ in rates)
    return {
        "messages": amount,
        "messages_per_minute_mean": sum(a for a, _, _ in rates) * 60_000 / rated_ms,
        "messages_per_minute_peak": max(a * 60_000 / step_ms for a, step_ms, _ in rates),
    }


def groups_of(ticks: list[Tick], from_ms: int, to_ms: int) -> dict[str, dict]:
    """{group: its lag in the range}."""
    lags: dict = defaultdict(list)
    for tick in ticks:
        if not from_ms <= tick.at_ms < to_ms:
            continue
        parts = defaultdict(list)
        for row in tick.groups.to_pylist():
            parts[row["group"]] += [row] if row["committed_offset"] is not None else []
        for group, rows in parts.items():
            known = rows and all(row["log_end_offset"] is not None for row in rows)
            lag = (
                sum(max(0, row["log_end_offset"] - row["committed_offset"]) for row in rows)
                if known
                else None
            )
            lags[group].append(lag)
    return {group: _lag(values) for group, values in lags.items()}


def _lag(values: list[int | None]) -> dict:
    known = [lag for lag in values if lag is not None]
    return {
        "lag_min": min(known, default=None),
        "lag_mean": sum(known) / len(known) if known else None,
        "lag_max": max(known, default=None),
        "lag_last": values[-1],
    }
