"""Hypothesis strategies for the samples of small clusters."""

from dataclasses import dataclass

from hypothesis import strategies as st

START_MS = 1_760_000_000_000
STEP_MS = 5000
GAP_MS = 180_000
UNKNOWN, ABSENT, RESET = "unknown", "absent", "reset"


@dataclass
class Log:
    """One partition: the tick in which it was created, and its growth before each later tick."""

    topic: str
    partition: int
    made: int
    grown: list[int | str]


@dataclass
class Cluster:
    """The times of its samples, and its partitions."""

    ticks: list[int]
    logs: list[Log]

    def samples(self) -> list[dict]:
        return [row for log in self.logs for row in self._rows(log)]

    def _rows(self, log: Log) -> list[dict]:
        rows, end, size = [], 0, 0
        for at, grown in zip(self.ticks[log.made :], log.grown, strict=False):
            if grown == ABSENT:
                continue
            if grown == RESET:
                end = size = 0
            elif grown != UNKNOWN:
                end, size = end + grown, size + 100 * grown
            told = grown != UNKNOWN
            rows.append(
                {
                    "at_ms": at,
                    "topic": log.topic,
                    "partition": log.partition,
                    "leader": 1 if told else -1,
                    "log_end_offset": end if told else None,
                    "bytes_in": size if told else None,
                }
            )
        return rows


@st.composite
def clusters(draw: st.DrawFn, topics: int, *, is_whole: bool = False) -> Cluster:
    """`is_whole`: nothing is unknown, absent or reset, and there is no gap."""
    steps = [STEP_MS] if is_whole else [STEP_MS, STEP_MS, STEP_MS, STEP_MS + 100, GAP_MS]
    gaps = draw(st.lists(st.sampled_from(steps), min_size=2, max_size=40))
    ticks = [START_MS]
    for gap in gaps:
        ticks.append(ticks[-1] + gap)
    amount = st.one_of(st.just(0), st.integers(0, 50), st.integers(0, 10**6))
    if not is_whole:
        amount = st.one_of(amount, amount, st.sampled_from([UNKNOWN, ABSENT, RESET]))
    logs = [
        Log(
            f"topic-{topic}",
            partition,
            draw(st.one_of(st.just(0), st.integers(0, len(ticks) - 1))),
            draw(st.lists(amount, min_size=len(ticks), max_size=len(ticks))),
        )
        for topic in range(topics)
        for partition in range(draw(st.integers(1, 3)))
    ]
    # The samples of the cluster begin at the first tick, whatever was made later.
    return Cluster(ticks, [Log("always", 0, 0, [0] * len(ticks)), *logs])
