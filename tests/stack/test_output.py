import io
from pathlib import Path

import pytest

from stack import output
from stack.output import LINE_BYTES_MAX, LineSplitter, LogFile, Terminal


def test_lines_are_split_at_newlines_not_at_chunk_ends() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\ntw") == ["one"]
    assert splitter.feed(b"o\nthree") == ["two"]
    assert splitter.end() == ["three"]
    assert splitter.end() == []


def test_a_line_that_is_too_long_is_truncated() -> None:
    splitter = LineSplitter()
    [line] = splitter.feed(b"x" * (LINE_BYTES_MAX + 1))
    assert len(line) == LINE_BYTES_MAX
    assert splitter.end() == []


def test_the_truncated_part_of_a_line_is_dropped() -> None:
    splitter = LineSplitter()
    assert len(splitter.feed(b"x" * (LINE_BYTES_MAX + 1))) == 1
    assert splitter.feed(b"ERROR forged") == []
    assert splitter.feed(b" and more\nthe next\n") == ["the next"]
    assert splitter.end() == []


def test_tabs_become_spaces() -> None:
    assert LineSplitter().feed(b"\tat org.apache.Main\n") == ["    at org.apache.Main"]


def test_invalid_utf8_is_replaced() -> None:
    assert LineSplitter().feed(b"\xff\xfe ok\r\n") == ["\ufffd\ufffd ok"]


def test_every_line_starts_with_the_name_of_its_process() -> None:
    stream = io.StringIO()
    terminal = Terminal(["web", "broker-1"], stream)
    terminal.line("web", "hello")
    terminal.line("broker-1", "there")
    terminal.close()
    assert stream.getvalue() == "web      | hello\nbroker-1 | there\n"


def test_control_characters_are_escaped_in_terminal_and_log(
    tmp_path: Path,
) -> None:
    stream = io.StringIO()
    terminal = Terminal(["web"], stream)
    log = LogFile(tmp_path / "web.log")
    printed = "".join(map(chr, range(256))) + "\u2028\u202e für Zürich"
    for line in LineSplitter().feed(printed.encode() + b"\n"):
        terminal.line("web", line)
        log.write(line)
    terminal.close()
    log.close()
    for shown in (stream.getvalue(), (tmp_path / "web.log").read_text()):
        assert shown.count("\n") == 2, "one that was printed and one at the end"
        assert shown.replace("\n", "").isprintable()
        assert "\\u001b\\u001c" in shown
        assert "\\u2028\\u202e für Zürich" in shown


def test_a_closed_terminal_does_not_stop_the_log_files() -> None:
    stream = io.StringIO()
    terminal = Terminal(["web"], stream)
    stream.close()
    terminal.line("web", "hello")
    terminal.close()


def test_a_log_file_rolls_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LOG_BYTES_MAX", 10)
    log = LogFile(tmp_path / "web.log")
    for line in ("first line", "second line", "third line"):
        log.write(line)
    log.close()
    assert (tmp_path / "web.log.1").read_text() == "second line\n"
    assert (tmp_path / "web.log").read_text() == "third line\n"
