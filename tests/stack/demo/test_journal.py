from pathlib import Path

import pytest

from stack.demo.journal import LINE_BYTES_MAX, Journal


class Log:
    """A log that a test writes, and its follower."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "access.jsonl"
        self.place = folder / "place.json"
        self.journal = self.reopened()

    def reopened(self) -> Journal:
        return Journal(self.path, self.place, "console.access", "path")

    def write(self, *lines: str) -> None:
        with self.path.open("a") as file:
            file.writelines(line + "\n" for line in lines)

    def roll(self) -> None:
        self.path.rename(self.path.with_name("access.jsonl.1"))

    def take(self, limit: int = 100) -> list[str]:
        return [record.value.decode() for record in self.journal.take(limit)]

    def take_and_settle(self) -> list[str]:
        lines = self.take()
        if lines:
            self.journal.settle(True)
        return lines


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_a_log_that_is_not_there_yet_is_empty(log: Log) -> None:
    assert log.take() == []


def test_lines_come_once_and_in_order(log: Log) -> None:
    log.write("a", "b", "c")
    assert log.take(2) == ["a", "b"]
    log.journal.settle(True)
    assert log.take() == ["c"]
    log.journal.settle(True)
    assert log.take() == []


def test_nothing_more_is_taken_while_lines_are_on_their_way(log: Log) -> None:
    log.write("a", "b")
    assert log.take(1) == ["a"]
    assert log.take(1) == []


def test_lines_that_were_not_delivered_are_taken_again(log: Log) -> None:
    log.write("a", "b")
    log.take()
    log.journal.settle(False)
    assert log.take() == ["a", "b"]


def test_the_place_survives_a_restart(log: Log) -> None:
    log.write("a", "b")
    log.take(1)
    log.journal.settle(True)
    log.journal = log.reopened()
    assert log.take() == ["b"]


def test_a_line_that_is_half_written_waits_for_its_end(log: Log) -> None:
    with log.path.open("a") as file:
        file.write("a\nhal")
    assert log.take_and_settle() == ["a"]
    with log.path.open("a") as file:
        file.write("f\n")
    assert log.take_and_settle() == ["half"]


def test_a_log_that_was_renamed_is_read_to_its_end_first(log: Log) -> None:
    log.write("a", "b")
    assert log.take(1) == ["a"]
    log.journal.settle(True)
    log.roll()
    log.write("c")
    assert log.take_and_settle() == ["b"]
    assert log.take_and_settle() == ["c"]


def test_a_log_that_was_emptied_is_read_from_its_beginning(log: Log) -> None:
    log.write("a long first line")
    assert log.take_and_settle() == ["a long first line"]
    log.path.write_text("")
    log.write("b")
    assert log.take_and_settle() == ["b"]


def test_a_line_too_long_is_left_out(log: Log) -> None:
    log.write("a", "x" * (LINE_BYTES_MAX + 1), "b")
    assert log.take_and_settle() == ["a", "b"]


def test_a_file_without_any_newline_is_skipped_not_read_for_ever(log: Log) -> None:
    log.write("y" * 600_000, "b")
    taken: list[str] = []
    for _ in range(6):
        taken += log.take_and_settle()
    assert taken[-1] == "b"
