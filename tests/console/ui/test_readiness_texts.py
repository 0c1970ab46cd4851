from console.ui import readiness_texts
from monitoring.readiness_checks import Part, State, Why


def test_a_backlog_of_the_pipeline_says_how_many_hours_and_where_to_look():
    part = Part("pipeline", State.DOWN, Why.BACKLOG, 9000, 3)
    assert readiness_texts.line(part) == "3 hours of samples wait to be rolled up"
    told = readiness_texts.banner(part)
    assert told.title == readiness_texts.line(part)
    assert "spark-jobs.log" in told.text


def test_an_almost_full_disk_says_what_to_do():
    part = Part("pipeline", State.DOWN, Why.DISK_FULL)
    assert readiness_texts.line(part) == "the disk of the history is almost full"
    assert "Free some space" in readiness_texts.banner(part).text
