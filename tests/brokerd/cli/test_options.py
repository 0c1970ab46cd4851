"""What every command takes."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import brokerd as package
from brokerd.cli.main import TOOLS, main
from tests.support.brokerd_tools import brokerd
from tests.support.warm import ROOT


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert package.__version__ == project["version"]


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_prints_its_version_and_ends(
    tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([tool, "--version"]) == 0
    assert capsys.readouterr().out == f"{package.__version__}\n"


def test_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / f"{0:020}.log"
    data.touch()
    for line in (["topics", "--help"], ["dump-log", "--files", str(data)]):
        with open("/dev/full", "w") as full:
            monkeypatch.setattr("sys.stdout", full)
            assert main(line) == 1
        assert capsys.readouterr().err == (
            "The output cannot be written: No space left on device\n"
        )


INT33, WIDE = "99999999999", "99999999999999999999"


def test_numbers_that_their_field_cannot_hold_are_refused(
    at: tuple[str, str], tmp_path: Path
) -> None:
    entries = ('"partition": 0, "offset": ' + WIDE, f'"partition": {INT33}, "offset": 1')
    files = [tmp_path / f"{number}.json" for number in range(len(entries))]
    for file, entry in zip(files, entries, strict=True):
        file.write_text('{"partitions": [{"topic": "t", ' + entry + '}], "version": 1}')
    partition = ("--topic", "t", "--partition")
    reset = ("--reset-offsets", "--group", "g", "--topic", "t")
    create = ("--create", "--topic", "t")
    for command, arguments, words in (
        ("console-consumer", (*partition, INT33), "rgument --partition: invalid"),
        ("console-consumer", (*partition, "0", "--offset", WIDE), f"value '{WIDE}' is incorrect"),
        ("console-consumer", ("--topic", "t", "--timeout-ms", WIDE), "--timeout-ms: invalid"),
        ("console-producer", ("--topic", "t", "--batch-size", INT33), "--batch-size: invalid"),
        ("topics", (*create, "--partitions", INT33), "--partitions: invalid"),
        ("topics", (*create, "--partitions", "1_0"), "--partitions: invalid int32 value: '1_0'"),
        ("topics", (*create, "--replica-assignment", INT33), "is not a list of broker ids"),
        ("consumer-groups", (*reset, "--to-offset", WIDE), "--to-offset: invalid"),
        ("consumer-groups", ("--delete-offsets", "--group", "g", "--topic", f"t:{INT33}"),
         f"Invalid partition in topic arg 't:{INT33}'"),
        ("get-offsets", ("--time", WIDE), f"Malformed time argument {WIDE}"),
        ("get-offsets", ("--partitions", INT33), f"but received: {INT33}"),
        ("get-offsets", ("--topic-partitions", f"t:0-{INT33}"), "not a number of 32 bits"),
        ("delete-records", ("--offset-json-file", files[0]), "An entry of partitions is not"),
        ("delete-records", ("--offset-json-file", files[1]), "An entry of partitions is not"),
        ("log-dirs", ("--describe", "--broker-list", INT33), f"{INT33} is not a list"),
        ("configs", ("--describe", "--broker", INT33), f"broker id, but it is: {INT33}"),
    ):  # fmt: skip
        said = brokerd(command, *at, *arguments)
        assert (said.code, words in said.out + said.err) == (1, True), said.out + said.err


def test_names_of_options_are_whole_and_have_their_values(at: tuple[str, str]) -> None:
    for arguments, words in (
        (("--list", "--top", "t"), "Unrecognized arguments: --top t"),
        (("--list", "--topic"), "Argument --topic: expected one argument"),
    ):
        said = brokerd("topics", *at, *arguments)
        assert (said.code, said.err.splitlines()[0]) == (1, words)
    assert brokerd("topics", *at, "--list", "--topic=--x").ok().out.strip() == ""


def test_an_empty_argument_is_one(at: tuple[str, str], made: str) -> None:
    """It is neither passed over nor taken for everything, as with Kafka's tools."""
    of_made = ("--topic", made)
    for command, arguments, words in (
        ("configs", ("--alter", *of_made, "--add-config", ""), "configs to be added must be in"),
        ("configs", ("--alter", *of_made, "--add-config-file", ""), "cannot be read"),
        ("get-offsets", ("--topic", ""), "Could not match any topic-partitions"),
        ("topics", ("--create", "--topic", ""), "Error while executing topic command"),
        ("console-consumer", (*of_made, "--formatter", ""), "is not built in"),
        ("console-producer", (*of_made, "--line-reader", ""), "is not built in"),
        ("delete-records", ("--offset-json-file", ""), "cannot be read"),
    ):
        said = brokerd(command, *at, *arguments)
        assert (said.code, words in said.out + said.err) == (1, True), (arguments, said.out)
    for action in (("--list",), ("--describe",), ("--delete",), ("--alter", "--partitions", "9")):
        assert brokerd("topics", *at, *action, "--topic", "").ok().out.strip() == ""
    assert made in brokerd("topics", *at, "--list").lines


def test_the_scripts_are_found_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "topics"
    link.symlink_to(ROOT / "bin" / "kafka-topics.sh")
    said = subprocess.run([link, "--version"], capture_output=True, text=True, timeout=60)
    assert said.stdout == f"{package.__version__}\n"


def test_closed_streams_are_as_empty_ones(at: tuple[str, str], topic: str) -> None:
    line = shlex.join([sys.executable, "-m", "brokerd", "console-producer", *at, "--topic", topic])
    done = subprocess.run(
        f"{line} <&- >&-", shell=True, cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
