from console.ui import readiness_texts
from monitoring.readiness_checks import Part, State, Why


def test_a_backlog_of_the_pipeline_says_how_many_hours_and_where_to_look():
    part = Part("pipeline", State.DOWN, Why.BACKLOG, 9000, 3)
    assert readiness_texts.line(part) == "3 hours of samples wait to be rolled up"
    told = readiness_texts.banner(part)
    assert told.title == readiness_texts.line(part)
    assert "spark-jobs.log" in told.text


def test_an_almost_full_disk_says_what_to_do():
    part = Part("pipeline", State.DOWN, Why.DISK_ALMOST_FULL)
    assert readiness_texts.line(part) == "the disk of the history is almost full"
    assert "Free some space" in readiness_texts.banner(part).text


def test_a_full_disk_says_that_samples_are_lost_and_where_its_figures_are():
    part = Part("pipeline", State.DOWN, Why.DISK_FULL)
    assert readiness_texts.line(part) == "the disk of the history is full"
    told = readiness_texts.banner(part)
    assert told.title == "The disk of the history is full"
    assert "not written within 15 minutes are lost" in told.text
    assert "The page Pipeline" in told.text
    assert ".log" not in told.text


def test_samples_that_cannot_be_written_say_since_when_what_is_lost_and_where_to_look():
    part = Part("pipeline", State.DOWN, Why.UNWRITTEN, 1_760_000_040_000)
    line = "new samples cannot be written to the history since 2025-10-09 08:54:00 UTC"
    assert readiness_texts.line(part) == line
    told = readiness_texts.banner(part)
    assert told.title == "New samples cannot be written to the history"
    assert "not written within 15 minutes are lost" in told.text
    assert told.text.endswith("See its log, logs/history.log.")
