"""Parses the arguments of --reset-offsets: partitions, times, durations and files. Pure."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from brokerd.cli.options import CliError, UsageError, int32, int64
from brokerd.config.value_parsers import words
from brokerd.topic_partition import TopicPartition

Plan = dict[TopicPartition, int]
_WITH_GROUP = 4  # fields
_DURATION = re.compile(
    r"P(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9}(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def parse_partitions(text: str) -> list[TopicPartition]:
    """`topic:0,1,2` as partitions. Raises UsageError."""
    topic, _, partitions = text.partition(":")
    try:
        return [(topic, int32(each)) for each in words(partitions)]
    except ValueError:
        raise UsageError(f"Invalid partition in topic arg '{text}', as in topic:0,1") from None


def parse_datetime(text: str) -> int:
    """`2024-01-31T12:00:00.000` with a zone or in UTC, as ms since 1970. Raises CliError."""
    try:
        if "T" not in text:
            raise ValueError("it has no T")
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CliError(f"{text} is not a time as 2024-01-31T12:00:00.000") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def parse_duration(text: str) -> int:
    """`PnDTnHnMnS` in ms. Raises CliError."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        raise CliError(f"{text} is not a duration as P1DT2H30M0.5S")
    parts = {name: float(value) for name, value in match.groupdict("0").items()}
    return round(timedelta(**parts).total_seconds() * 1000)


def parse_plans(text: str, groups: Sequence[str]) -> dict[str, Plan]:
    """The plans of a CSV file: `topic,partition,offset` for one group, or
    `group,topic,partition,offset`. CliError for a line that is neither (Kafka's tool takes missing
    fields as 0)."""
    plans: dict[str, Plan] = defaultdict(dict)
    rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if any(row)]
    single = len(groups) == 1 and bool(rows) and len(rows[0]) != _WITH_GROUP
    for number, row in enumerate(rows, 1):
        group, *fields = [groups[0], *row] if single else row
        try:
            topic, partition, offset = fields
            plans[group.strip()][topic.strip(), int32(partition.strip())] = int64(offset.strip())
        except ValueError:
            wanted = "topic,partition,offset" if single else "group,topic,partition,offset"
            raise CliError(f"Line {number} is not {wanted}: {','.join(row)}") from None
    return plans


def csv_lines(plans: Mapping[str, Mapping[TopicPartition, int]], *, single: bool) -> list[str]:
    """Lines that `parse_plans` reads; `single`: without the name of the group."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        ([] if single else [group]) + [topic, index, offset]
        for group, plan in plans.items()
        for (topic, index), offset in sorted(plan.items())
    )
    return text.getvalue().splitlines()
