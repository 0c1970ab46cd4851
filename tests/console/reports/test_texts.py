import pytest

from console.reports import texts
from monitoring.models import Report

FIGURES = {
    "ticks": 10, "topics": 3, "groups": 2, "messages": 1000, "bytes": 2048,
    "messages_least": False, "bytes_least": False,
    "busiest_topic": "orders", "busiest_messages": 800, "worst_group": "slow", "worst_lag": 40,
    "worst_lag_at_ms": 1_760_000_040_000, "worst_lag_last": 5,
}  # fmt: skip


def found(**changes: object) -> str:
    return " ".join(texts.finding(FIGURES | changes))


def test_the_finding_names_what_matters():
    assert found() == (
        "1\u202f000 messages (2\u202fKiB) were written to 3 topics. orders was the busiest with "
        "80.0\u202f% of them. slow was furthest behind: 40 messages at 2025-10-09 08:54:00 UTC. "
        "At the end it was 5."
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ticks": 0}, "No samples of this cluster are stored for this time."),
        ({"ticks": 0, "only_level": "hour"}, "Of this time only hours are stored"),
        ({"ticks": 0, "only_level": "day"}, "Of this time only days are stored"),
        ({"messages": None}, "is not known"),
        ({"messages_least": True}, "At least 1\u202f000 messages (2"),
        ({"bytes_least": True}, "1\u202f000 messages (at least 2\u202fKiB) were"),
        ({"bytes": None}, "1\u202f000 messages were written to 3 topics."),
        ({"topics": 1}, "to 1 topic."),
        ({"topics": 20_000, "topics_least": True}, "to at least 20000 topics."),
        ({"messages": 0}, "0 messages (2\u202fKiB) were written to 3 topics. slow"),
        ({"worst_lag": None}, "The lag of no consumer group is known."),
        ({"worst_lag": 0}, "No consumer group was behind at any sample."),
        ({"groups": 0}, "There was no consumer group."),
        ({"groups": 0, "groups_left_out": 1}, "No consumer group is in this report."),
        ({"worst_lag": 0, "groups_ahead": 1}, "1 group had commits beyond the end"),
        ({"groups_ahead": 2}, "At the end it was 5. 2 groups had commits beyond the end"),
    ],
)
def test_what_is_not_known_or_not_there_is_reported(changes, told):
    assert told in found(**changes)


@pytest.mark.parametrize(
    ("level", "days", "told"),
    [("hour", 5, "more than 5 days"), ("day", 120, "more than 120 days")],
)
def test_where_only_a_coarse_level_is_left_it_says_how_long_a_time_to_choose(level, days, told):
    figures = {"ticks": 0, "only_level": level, "longest_too_short_ms": days * 24 * 3_600_000}
    assert told in texts.advice(figures)
    assert "in which the sampler ran" in texts.advice({"ticks": 0})


@pytest.mark.parametrize(("level", "days"), [("hour", 5), ("day", 120)])
def test_a_part_of_which_only_a_coarse_level_is_left_is_named(level, days):
    length_ms = days * 24 * 3_600_000
    part = {"from_ms": 1_760_000_040_000, "to_ms": 1_760_003_640_000}
    figures = {"left_out": [part | {"level": level, "longest_too_short_ms": length_ms}]}
    assert texts.left_out(figures) == (
        f"From 2025-10-09 08:54:00 UTC to 2025-10-09 09:54:00 UTC only {level}s are stored, which "
        f"are not in this report: a report of more than {days} days reads them."
    )
    assert texts.left_out({}) == ""


def test_an_end_that_is_not_known_is_left_out():
    assert "At the end" not in found(worst_lag_last=None)


def test_the_period_names_a_day_once():
    report = Report(params={"from_ms": 1_760_000_040_000, "to_ms": 1_760_003_640_000})
    assert texts.period(report) == "2025-10-09 08:54:00 to 09:54:00 UTC"


def test_every_stage_of_every_kind_has_words():
    from monitoring.reports.kinds import KINDS

    for name, kind in KINDS.items():
        assert name in texts.KIND_TITLES
        for stage in ("starting", *kind.stages, "storing"):
            assert texts.stage(Report(state="running", stage=stage)) != stage
