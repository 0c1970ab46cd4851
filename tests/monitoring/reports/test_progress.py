from dataclasses import dataclass

from monitoring.reports.progress import ReportProgress


@dataclass
class Stage:
    num_tasks: int
    num_completed_tasks: int


def test_each_stage_is_an_equal_share() -> None:
    progress = ReportProgress(4)
    assert [progress.start_stage(number) for number in range(4)] == [0, 25, 50, 75]


def test_tasks_move_it_within_their_stage() -> None:
    progress = ReportProgress(4)
    progress.start_stage(1)
    assert progress.update([Stage(8, 4), Stage(2, 1)]) == 37


def test_it_never_goes_back_when_spark_plans_more_tasks() -> None:
    progress = ReportProgress(2)
    progress.start_stage(0)
    assert progress.update([Stage(2, 2)]) == 50
    assert progress.update([Stage(2, 2), Stage(8, 0)]) == 50


def test_hundred_is_reached_only_by_being_done() -> None:
    progress = ReportProgress(1)
    assert progress.update([Stage(5, 5)]) == 99


def test_a_query_without_tasks_yet_is_no_progress() -> None:
    assert ReportProgress(3).update([]) == 0
