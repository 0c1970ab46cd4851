"""Leader epochs: where each began, and what a follower is told."""

from pathlib import Path
from threading import Thread

import pytest

from brokerd.log import leader_epoch_file_cache as epochs_module
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.leader_epoch_file_cache import LeaderEpochFileCache


def cache(directory: Path, *entries: tuple[int, int]) -> LeaderEpochFileCache:
    epochs = LeaderEpochFileCache(str(directory))
    for epoch, start in entries:
        epochs.assign(epoch, start)
    return epochs


def test_epochs_are_kept_in_kafkas_format(tmp_path: Path) -> None:
    cache(tmp_path, (0, 0), (3, 17))
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n3 17\n"
    assert LeaderEpochFileCache(str(tmp_path)).entries == [(0, 0), (3, 17)]


def test_an_epoch_that_goes_on_has_one_entry(tmp_path: Path) -> None:
    assert cache(tmp_path, (2, 5), (2, 9)).entries == [(2, 5)]


def test_the_epoch_at_the_log_start_is_known_where_the_entries_reach_back_to_it(
    tmp_path: Path,
) -> None:
    epochs = cache(tmp_path, (2, 5), (4, 9))
    assert [epochs.epoch_at(start) for start in (4, 5)] == [-1, 2]


def test_an_epoch_in_which_nothing_was_written_is_replaced(tmp_path: Path) -> None:
    assert cache(tmp_path, (0, 0), (1, 5), (2, 5)).entries == [(0, 0), (2, 5)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (1, (1, 0)), (2, (2, 10)), (3, (2, 10)), (4, (4, 30)), (5, (4, 30)), (6, (6, 50)),
        (7, (-1, -1)), (-1, (-1, -1)),
    ],
)  # fmt: skip
def test_the_end_of_an_epoch_is_the_start_of_the_next(
    tmp_path: Path, asked: int, answer: tuple[int, int]
) -> None:
    epochs = cache(tmp_path, (2, 0), (4, 10), (6, 30))
    assert epochs.end_offset_for(asked, 50) == answer


@pytest.mark.parametrize(
    ("asked", "answer"),
    [(6, (6, 50)), (7, (6, 50)), (9, (9, 50)), (10, (-1, -1)), (5, (4, 30)), (-1, (-1, -1))],
)
def test_a_leaders_epoch_is_known_before_its_first_batch(
    tmp_path: Path, asked: int, answer: tuple[int, int]
) -> None:
    epochs = cache(tmp_path, (2, 0), (4, 10), (6, 30))
    assert epochs.end_offset_for(asked, 50, leader_epoch=9) == answer


def test_cutting_forgets_what_lies_outside(tmp_path: Path) -> None:
    epochs = cache(tmp_path, (2, 0), (4, 10), (6, 30))
    epochs.truncate_end(30)
    assert epochs.entries == [(2, 0), (4, 10)]
    epochs.truncate_start(12)
    assert epochs.entries == [(4, 12)]
    assert LeaderEpochFileCache(str(tmp_path)).entries == [(4, 12)]


@pytest.mark.parametrize(
    ("batches", "epochs"),
    [
        ([(1, 10), (1, 11), (2, 12)], [(0, 0), (1, 3), (2, 12)]),
        ([(0, 1), (1, 5), (2, 13)], [(0, 0), (1, 3), (2, 12)]),  # compaction took the first ones
        ([(0, 0), (3, 13), (3, 14)], [(0, 0), (1, 3), (2, 12), (3, 13)]),
        ([(3, 10)], [(0, 0), (1, 3), (3, 10)]),  # a power cut may have left an old file
        ([(-1, 10), (0, 11)], [(0, 0), (1, 3), (2, 12)]),
    ],
)
def test_of_batches_that_are_read_again_only_later_epochs_are_new(
    tmp_path: Path, batches: list[tuple[int, int]], epochs: list[tuple[int, int]]
) -> None:
    known = cache(tmp_path, (0, 0), (1, 3), (2, 12))
    for epoch, base_offset in batches:
        known.found(epoch, base_offset)
    assert known.entries == epochs


def test_a_log_that_starts_where_an_epoch_does_starts_with_that_epoch(tmp_path: Path) -> None:
    epochs = cache(tmp_path, (0, 0), (1, 10), (2, 20))
    epochs.truncate_start(0)
    assert epochs.entries == [(0, 0), (1, 10), (2, 20)]
    epochs.truncate_start(10)
    assert epochs.entries == [(1, 10), (2, 20)]
    assert LeaderEpochFileCache(str(tmp_path)).entries == [(1, 10), (2, 20)]


@pytest.mark.parametrize("junk", ["", "?", "0\n1\n1\n", "0\n1\n1 x\n", "0\n2\n1 5\n1 9\n"])
def test_a_file_that_is_none_is_named_and_has_no_epochs(
    tmp_path: Path, junk: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_text(junk)
    epochs = LeaderEpochFileCache(str(tmp_path))
    assert (epochs.is_damaged, epochs.entries) == (True, [])
    epochs.save()  # by who has read them from the batches
    assert not epochs.is_damaged
    assert f"{path} is not a checkpoint file: line " in caplog.text


def test_what_is_written_later_is_what_holds_by_then(tmp_path: Path) -> None:
    waiting: list[DiskJob] = []
    epochs = LeaderEpochFileCache(str(tmp_path), waiting.append)
    epochs.assign(1, 0)
    epochs.assign(2, 5)
    (job,) = waiting
    run_now(job)
    assert LeaderEpochFileCache(str(tmp_path)).entries == [(1, 0), (2, 5)]
    epochs.truncate_end(5)
    run_now(waiting[-1])
    assert LeaderEpochFileCache(str(tmp_path)).entries == [(1, 0)]


def test_nothing_is_written_into_a_directory_that_became_anothers(tmp_path: Path) -> None:
    waiting: list[DiskJob] = []
    epochs = LeaderEpochFileCache(str(tmp_path), waiting.append)
    epochs.assign(1, 0)
    epochs.close()
    run_now(waiting[0])
    assert list(tmp_path.iterdir()) == []


def test_who_is_closed_does_not_wait_for_another_ones_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = LeaderEpochFileCache(str(tmp_path))
    has_closed = []

    def write(*args: object, **kwargs: object) -> None:
        closing = Thread(target=other.close, daemon=True)
        closing.start()
        closing.join(10)
        has_closed.append(not closing.is_alive())

    monkeypatch.setattr(epochs_module, "write_entries", write)
    cache(tmp_path, (1, 0))
    assert has_closed == [True]


def test_who_cares_is_told_that_the_file_cannot_be_written(tmp_path: Path) -> None:
    told: list[OSError] = []
    epochs = LeaderEpochFileCache(str(tmp_path / "gone"), failed=told.append)
    epochs.assign(1, 0)
    assert [type(error) for error in told] == [FileNotFoundError]
    assert epochs.entries == [(1, 0)]
