"""The arguments of --reset-offsets: partitions, moments, durations and files. Pure."""

import csv
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from brokerd.cli.java_text import fields
from brokerd.cli.numbers import int32, int64
from brokerd.cli.options import CliError, UsageError
from brokerd.topic_partition import TopicPartition

Plan = dict[TopicPartition, int]
_MOMENT = re.compile(
    r"(\d{1,4})-(\d\d?)-(\d\d?)T(\d\d?):(\d\d?):(\d\d?)\.(\d{1,3})(?:Z|([+-]\d\d)(?::?(\d\d))?)",
    re.ASCII,
)
_WITH_GROUP = 4  # fields
_BARE_MAX = 24
_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE,
)


def named_partitions(text: str) -> list[TopicPartition]:
    """`topic:0,1,2` as partitions. Raises UsageError."""
    parts = fields(text, ":")
    if len(parts) != 2:
        raise UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    partitions = []
    for each in fields(parts[1], ","):
        try:
            partitions.append((parts[0], int32(each)))
        except ValueError:
            message = f"Invalid partition '{each}' specified in topic arg '{text}''"
            raise UsageError(message) from None
    return partitions


def moment_ms(text: str) -> int:
    """`2024-01-31T12:00:00.000` with a zone or in UTC, as ms since 1970. The thousandths are a
    number, as in Kafka's Utils.getDateTime: `.5` is five of them. Raises CliError."""
    _, _, time = text.partition("T")
    if not time.rstrip("T"):
        raise CliError("Error parsing timestamp. It does not contain a 'T' according to ISO8601"
                       " format")  # fmt: skip
    if not any(each in time for each in "+-Z"):
        text += "Z"
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second, thousandths = map(int, match.groups()[:7])
        zone = datetime.strptime(f"{match[8] or '+00'}{match[9] or '00'}", "%z").tzinfo
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
        return int(moment.timestamp()) * 1000 + thousandths
    except (ValueError, OverflowError):
        raise CliError(f'Unparseable date: "{text}"') from None


def duration_ms(text: str) -> int:
    """`PnDTnHnMnS` in ms. Raises CliError."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.group(2, 4, 5, 6)) or match[3] in ("T", "t"):
        raise CliError("Text cannot be parsed to a Duration")
    days, hours, minutes = (int(match[number] or 0) for number in (2, 4, 5))
    seconds = float((match[6] or "0").replace(",", "."))
    try:
        total = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise CliError("Text cannot be parsed to a Duration: it is too long") from None
    return round(total.total_seconds() * 1000) * (-1 if match[1] == "-" else 1)


def plans_of_file(text: str, groups: Sequence[str]) -> dict[str, Plan]:
    """`topic,partition,offset` for one group, or `group,topic,partition,offset`. CliError for a
    line that is neither (of one that lacks fields at its end Kafka's tool takes them as 0)."""
    plans: dict[str, Plan] = defaultdict(dict)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    single = len(groups) == 1 and bool(lines) and len(_fields(lines[0])) != _WITH_GROUP
    for number, line in enumerate(lines, 1):
        fields = _fields(line)
        group = groups[0] if single else fields.pop(0)
        try:
            topic, partition, offset = fields
            plans[group][topic, int32(partition)] = int64(offset)
        except ValueError:
            wanted = "topic,partition,offset" if single else "group,topic,partition,offset"
            raise CliError(f"Line {number} is not {wanted}: {line}") from None
    return plans


def _fields(line: str) -> list[str]:
    """Of a line that is not empty. A quotation mark that nothing ends goes to the line's end."""
    try:
        return [each.strip() for each in next(csv.reader([line], skipinitialspace=True))]
    except csv.Error:  # longer than any name
        return [line]


def export_lines(plans: Mapping[str, Mapping[TopicPartition, int]], *, single: bool) -> list[str]:
    """What `plans_of_file` reads back; a group is named where several were asked for."""
    return [
        f"{'' if single else _quoted(group) + ','}{_quoted(topic)},{index},{offset}"
        for group, plan in plans.items()
        for (topic, index), offset in sorted(plan.items())
    ]


def _quoted(text: str) -> str:
    """As Jackson writes a text of CSV: in quotation marks where it is long or may need them."""
    if len(text) <= _BARE_MAX and all(each > "," for each in text):
        return text
    return '"' + text.replace('"', '""') + '"'


def within_range(
    wanted: Mapping[TopicPartition, int],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> tuple[Plan, list[str]]:
    """Offsets that lie in the log, and a warning for each that had to be moved there."""
    plan: Plan = {}
    warnings = []
    for each, offset in wanted.items():
        end, start = ends.get(each), starts.get(each)
        plan[each] = offset
        if end is not None and offset > end:
            plan[each], bound = end, "higher than latest"
        elif start is not None and offset < start:
            plan[each], bound = start, "lower than earliest"
        else:
            continue
        warnings.append(
            f"New offset ({offset}) is {bound} offset for topic partition {each[0]}-{each[1]}."
            f" Value will be set to {plan[each]}"
        )
    return plan, warnings
