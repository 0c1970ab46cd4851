"""What --reset-offsets is told."""

import pytest

from brokerd.cli.options import CliError
from brokerd.cli.parse_reset_arguments import (
    csv_lines,
    parse_datetime,
    parse_duration,
    parse_partitions,
    parse_plans,
)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("P1D", 86_400_000),
        ("PT1H30M", 5_400_000),
        ("P1DT0.5S", 86_400_500),
        ("pt2m", 120_000),
    ],
)
def test_a_duration_is_read_as_java_reads_it(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "1D", "P1H", "P9999999999D"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(CliError, match="is not a duration as"):
        parse_duration(text)


def test_a_moment_without_a_zone_is_in_utc() -> None:
    assert parse_datetime("1970-01-02T00:00:00.001") == 86_400_001
    assert parse_datetime("1970-01-02T01:00:00.001+01:00") == 86_400_001
    assert parse_datetime("1970-01-02T00:00:00.001Z") == 86_400_001
    assert parse_datetime("1969-12-31T23:59:59.999+0000") == -1
    for text in ("1970-01-02", "1970-13-02T00:00:00.000", "T"):
        with pytest.raises(CliError):
            parse_datetime(text)


def test_what_is_exported_is_read_back() -> None:
    plans = {"g": {("t", 0): 5, ("t", 1): 6}, "h": {("u", 0): 7}}
    assert parse_plans("\n".join(csv_lines(plans, single=False)), ["g", "h"]) == plans
    one = {"g": plans["g"]}
    assert parse_plans("\n".join(csv_lines(one, single=True)), ["g"]) == one
    odd = {'a,"b': {("t" * 25, 0): 1}}
    assert csv_lines(odd, single=False) == ['"a,""b",%s,0,1' % ("t" * 25)]
    assert parse_plans("\n".join(csv_lines(odd, single=False)), ["g", "h"]) == odd


@pytest.mark.parametrize(
    ("groups", "line", "wanted"),
    [
        ("g", "t,0", "topic,partition,offset"),
        ("g", "g,t,0", "topic,partition,offset"),
        ("g", "g,t,0,x", "group,topic,partition,offset"),
        ("gh", "t,0,1", "group,topic,partition,offset"),
        ("gh", "g,t,0,1,2", "group,topic,partition,offset"),
    ],
)
def test_a_line_that_is_no_plan_is_told_what_it_should_be(
    groups: str, line: str, wanted: str
) -> None:
    with pytest.raises(CliError) as caught:
        parse_plans(line, list(groups))
    assert str(caught.value) == f"Line 1 is not {wanted}: {line}"


@pytest.mark.parametrize("text", ["t:0,1", "t:0,1,"])
def test_partitions_are_named_behind_their_topic(text: str) -> None:
    assert parse_partitions(text) == [("t", 0), ("t", 1)]
