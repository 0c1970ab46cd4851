from pathlib import Path

import pytest

from stack.demo.log_tail import LINE_BYTES_MAX, LogTail


class Log:
    """A log that a test writes, and its follower."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "access.jsonl"
        self.position = folder / "position.json"
        self.journal = self.reopened()

    def reopened(self) -> LogTail:
        return LogTail(self.path, self.position, "console.access", "path")

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
            self.journal.finish_delivery(True)
        return lines


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_a_missing_log_has_no_lines(log: Log) -> None:
    assert log.take() == []


def test_lines_are_read_once_and_in_order(log: Log) -> None:
    log.write("a", "b", "c")
    assert log.take(2) == ["a", "b"]
    log.journal.finish_delivery(True)
    assert log.take() == ["c"]
    log.journal.finish_delivery(True)
    assert log.take() == []


def test_no_lines_are_read_while_a_delivery_is_not_finished(log: Log) -> None:
    log.write("a", "b")
    assert log.take(1) == ["a"]
    assert log.take(1) == []


def test_lines_that_were_not_delivered_are_read_again(log: Log) -> None:
    log.write("a", "b")
    log.take()
    log.journal.finish_delivery(False)
    assert log.take() == ["a", "b"]


def test_the_position_survives_a_restart(log: Log) -> None:
    log.write("a", "b")
    log.take(1)
    log.journal.finish_delivery(True)
    log.journal = log.reopened()
    assert log.take() == ["b"]


def test_an_incomplete_line_is_not_read(log: Log) -> None:
    with log.path.open("a") as file:
        file.write("a\nhal")
    assert log.take_and_settle() == ["a"]
    with log.path.open("a") as file:
        file.write("f\n")
    assert log.take_and_settle() == ["half"]


def test_a_renamed_log_is_read_to_its_end_first(log: Log) -> None:
    log.write("a", "b")
    assert log.take(1) == ["a"]
    log.journal.finish_delivery(True)
    log.roll()
    log.write("c")
    assert log.take_and_settle() == ["b"]
    assert log.take_and_settle() == ["c"]


def test_a_truncated_log_is_read_from_its_beginning(log: Log) -> None:
    log.write("a long first line")
    assert log.take_and_settle() == ["a long first line"]
    log.path.write_text("")
    log.write("b")
    assert log.take_and_settle() == ["b"]


def test_a_line_that_is_too_long_is_skipped(log: Log) -> None:
    log.write("a", "x" * (LINE_BYTES_MAX + 1), "b")
    assert log.take_and_settle() == ["a", "b"]


def test_a_file_without_a_newline_is_skipped(log: Log) -> None:
    log.write("y" * 600_000, "b")
    taken: list[str] = []
    for _ in range(6):
        taken += log.take_and_settle()
    assert taken[-1] == "b"
