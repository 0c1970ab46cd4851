"""Random ticks of a small cluster to which everything happens, as plain dicts.

A tick is {"at_ms", "ok", "complete", "partitions": {(topic, number): {…}}, "groups": {group: {…}},
"brokers": {id: {…}}}. `to_tick` makes a Tick of it.
"""

import random

from monitoring.ticks.tick import Tick
from tests.monitoring.tick_factory import groups_table, partitions_table

INTERVAL_MS = 300_000
BROKERS = (1, 2, 3)


def ticks(seed: int, start_ms: int, count: int) -> list[dict]:
    """`count` ticks: some are gaps, some come late, and an outage takes two or three hours."""
    dice = random.Random(seed)
    topics = [_Topic(dice, f"topic-{number}", number) for number in range(12)]
    groups = [_Group(dice, f"group-{number}", topics) for number in range(6)]
    brokers = {number: dict.fromkeys(("bytes_in", "requests", "cpu_seconds"), 0)
               for number in BROKERS}  # fmt: skip
    outage = range(count * 2 // 5, count * 2 // 5 + dice.randrange(25, 40))
    found = []
    for number in range(count):
        for topic in topics:
            topic.live(number / count)
        is_ok = number not in outage and dice.random() > 0.06
        if not is_ok:
            number_ms = start_ms + number * INTERVAL_MS
            found.append({"at_ms": number_ms, "ok": False})
            continue
        there = {topic.name: topic for topic in topics if topic.is_there}
        is_complete = dice.random() > 0.05
        found.append(
            {
                "at_ms": start_ms + number * INTERVAL_MS + dice.choice([0, 0, 0, 1, 40, 999]),
                "ok": True,
                "complete": is_complete,
                "partitions": {k: v for topic in there.values() for k, v in topic.seen().items()},
                "groups": {
                    group.name: group.seen(there, number / count, is_complete)
                    for group in groups
                    if group.is_there(number / count, is_complete)
                },
                "brokers": {n: _broker(dice, kept) for n, kept in brokers.items() if n < 3
                            or dice.random() > 0.02},
            }
        )  # fmt: skip
    return found


class _Topic:
    """`kind`: idle, steady, bursts, unknown now and then, created late, deleted, created again.

    One topic of each kind has no ids, as on a cluster before them.
    """

    def __init__(self, dice: random.Random, name: str, kind: int) -> None:
        self.dice, self.name, self.kind = dice, name, kind % 6
        self.is_there, self.number, self.born = True, 0, 0.0
        self.has_id = kind < 6
        self._create()

    def _create(self) -> None:
        self.number += 1
        self.partitions = [
            {
                "end": self.dice.randrange(1000),
                "start": self.dice.randrange(3),
                "leader": self.dice.choice(BROKERS),
                "bytes_in": self.dice.randrange(9999),
            }
            for _ in range(self.dice.randint(1, 3))
        ]

    def live(self, age: float) -> None:
        was_there, dice = self.is_there, self.dice
        if self.kind == 3:
            self.is_there = age > 0.3
        elif self.kind == 4:
            self.is_there = age < 0.4 or age > 0.75
        elif self.kind == 5 and dice.random() < 0.02:
            self._create()
        if self.is_there and not was_there:
            self._create()
        chance = (0.0, 1.0, 0.1, 0.5, 0.4, 0.3)[self.kind]
        for partition in self.partitions:
            if dice.random() < chance:
                grown = dice.randrange(1, 500)
                partition["end"] += grown
                partition["bytes_in"] += 100 * grown
            if dice.random() < 0.01:
                partition["leader"] = dice.choice([-1, *BROKERS])
            if dice.random() < 0.01:
                partition["bytes_in"] = dice.randrange(50)
            if self.kind == 2 and dice.random() < 0.01:
                partition["end"] = max(partition["end"] - 20, partition["start"])

    def seen(self) -> dict:
        rows = {}
        for number, partition in enumerate(self.partitions):
            is_known = self.kind not in (2, 5) or self.dice.random() > 0.1
            is_led = is_known and partition["leader"] >= 0
            size = partition["end"] * 100
            rows[self.name, number] = {
                "topic_id": f"{self.name}-{self.number}" if self._is_id_known() else None,
                "leader": partition["leader"],
                "replicas": [1, 2],
                "isr": [1, 2] if self.dice.random() > 0.02 else [1],
                "log_start_offset": partition["start"] if is_led else None,
                "log_end_offset": partition["end"] if is_led else None,
                "size_bytes": size if is_led else None,
                "replicas_size_bytes": 2 * size,
                "replicas_reported": 2 if is_led else 1,
                "bytes_in": partition["bytes_in"] if is_led else None,
                "bytes_out": None,
            }
        return rows

    def _is_id_known(self) -> bool:
        return self.has_id and self.dice.random() > 0.01


class _Group:
    def __init__(self, dice: random.Random, name: str, topics: list[_Topic]) -> None:
        self.dice, self.name = dice, name
        self.topics = dice.sample(topics, dice.randrange(5))
        self.until = dice.choice([1.0, 1.0, 0.6])
        self.commits: dict = {}

    def is_there(self, age: float, is_complete: bool) -> bool:
        return age <= self.until and (is_complete or self.dice.random() > 0.5)

    def seen(self, there: dict[str, _Topic], age: float, is_complete: bool) -> dict:
        dice = self.dice
        for topic in self.topics:
            if topic.name not in there:
                continue
            for number, partition in enumerate(topic.partitions):
                key = topic.name, number
                at = self.commits.setdefault(key, None if dice.random() < 0.3 else 0)
                if dice.random() < 0.4:
                    self.commits[key] = min((at or 0) + dice.randrange(400), partition["end"])
                if dice.random() < 0.01:
                    self.commits[key] = dice.randrange(partition["end"] + 10)
        answered = is_complete or dice.random() > 0.5
        return {
            "answered": answered,
            "state": dice.choice(["Stable"] * 30 + ["Empty", None]),
            "coordinator": dice.choice([1] * 30 + [2, None]),
            "members": dice.choice([2] * 30 + [0, None]),
            "commits": dict(self.commits),
        }


def _broker(dice: random.Random, kept: dict) -> dict:
    for name in kept:
        kept[name] += dice.randrange(100)
        if dice.random() < 0.02:
            kept[name] = 0
    told = kept if dice.random() > 0.1 else dict.fromkeys(kept)
    return {
        "up": dice.random() > 0.05,
        "size_bytes": dice.choice([None, 10, 20]),
        "connections": dice.choice([3] * 9 + [4]),
        "log_dirs": [
            {
                "path": path,
                "total_bytes": 100,
                "free_bytes": dice.choice([50] * 9 + [40, None]),
                "size_bytes": dice.choice([None, 10, 10, 10]),
            }
            for path in ("/disk-1", "/disk-2")
            if dice.random() > 0.05
        ],
        **told,
    }


def to_tick(tick: dict) -> Tick:
    """The Tick that the sampler would have made."""
    number = tick["at_ms"] // INTERVAL_MS
    common = {"cluster": "local", "tick": number, "at_ms": tick["at_ms"]}
    if not tick["ok"]:
        return Tick(**common, interval_ms=INTERVAL_MS, status="gap")
    partitions = [
        {"topic": topic, "partition": partition} | row
        for (topic, partition), row in tick["partitions"].items()
    ]
    return Tick(
        **common,
        interval_ms=INTERVAL_MS,
        controller_id=1,
        groups_complete=tick["complete"],
        brokers=[{"id": broker} | row for broker, row in tick["brokers"].items()],
        partitions=partitions_table(number, partitions),
        groups=groups_table(number, [row for name in tick["groups"] for row in _rows(tick, name)]),
    )


def _rows(tick: dict, name: str) -> list[dict]:
    group = tick["groups"][name]
    common = {key: group[key] for key in ("state", "coordinator", "members")}
    common |= {"group": name, "reported_at_ms": None if group["answered"] else 1}
    return [
        common
        | {
            "topic": topic,
            "partition": partition,
            "committed_offset": committed,
            "log_end_offset": tick["partitions"].get((topic, partition), {}).get("log_end_offset"),
        }
        for (topic, partition), committed in group["commits"].items()
    ] or [common]
