"""The options of a command, as those of Kafka's tools, and what is printed when a command fails:
for a wrong command line the error, then the list of options, both to standard error."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import brokerd
from brokerd.config import value_parsers
from brokerd.errors import KafkaError

_INTEGER = re.compile(r"[-+]?[0-9]{1,20}")
_OUTSIDE_BRACKETS = r"(?=[^\]]*(?:\[|$))"
_BETWEEN = re.compile("," + _OUTSIDE_BRACKETS)
_EQUALS = re.compile(r"\s*=\s*" + _OUTSIDE_BRACKETS)


class CliError(Exception):
    """An error that is printed as one line; the exit code is 1."""


class UsageError(CliError):
    """A CliError after which the list of options is printed."""


def int32(text: str) -> int:
    """Parses a signed integer of 32 bits. Raises ValueError."""
    return _integer(text, 32)


def int64(text: str) -> int:
    """Parses a signed integer of 64 bits. Raises ValueError."""
    return _integer(text, 64)


def _integer(text: str, bits: int) -> int:
    value = int(text) if _INTEGER.fullmatch(text) else None
    if value is None or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{text} is not a number of {bits} bits")
    return value


class Options(argparse.Namespace):
    """The options that were given. A name is that of the command line, as `bootstrap-server`."""

    def has(self, name: str) -> bool:
        """Whether the option was given or has a default; an empty value counts, too."""
        value = getattr(self, name.replace("-", "_"))
        return value is not None and value is not False

    def optional_value(self, name: str) -> str | None:
        """The value of an option that may have none; None without a value or the option."""
        value = getattr(self, name.replace("-", "_"))
        return value if isinstance(value, str) else None

    def check_required(self, *names: str) -> None:
        """UsageError unless each option was given."""
        for name in names:
            if not self.has(name):
                raise UsageError(f'Missing required argument "[{name}]"')

    def check_invalid(self, used: str, *others: str) -> None:
        """UsageError if `used` was given together with one of the others."""
        for other in others:
            if self.has(used) and self.has(other):
                raise UsageError(f'Option "[{used}]" can\'t be used with option "[{other}]"')

    def check_available(self, where: Mapping[str, Sequence[str]]) -> None:
        """UsageError for an option (key) without any of the options that it needs (value)."""
        lone = [
            name
            for name, others in where.items()
            if self.has(name) and not any(map(self.has, others))
        ]
        if lone:
            listed = ", ".join(lone)
            raise UsageError(
                f"Option(s) [{listed}] are unavailable given other options on the command line"
            )

    def single_action(self, actions: Iterable[str]) -> str:
        """The action that was given. UsageError unless it is exactly one."""
        wanted = list(filter(self.has, actions))
        if len(wanted) != 1:
            listed = ", ".join(f"--{action}" for action in actions)
            raise UsageError(f"Command must include exactly one action: {listed}")
        return wanted[0]


class OptionParser(argparse.ArgumentParser):
    """The options of one command; `Options.check_required` checks the required ones."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"brokerd {command}", description=description, allow_abbrev=False, add_help=False,
            formatter_class=partial(argparse.HelpFormatter, max_help_position=32, width=100),
        )  # fmt: skip
        self.add_argument("--help", help="List the options.", action="help")
        self.add_argument(
            "--version", help="Print the version.", action="version", version=brokerd.__version__
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(message[:1].upper() + message[1:])

    def option(
        self, name: str, text: str, metavar: str, type: Callable[[str], object] = str,
        *, default: object = None, many: bool = False, into: str | None = None,
    ) -> None:  # fmt: skip
        """An option with a value; with `many` it may be repeated and gives a list. `into` is the
        attribute's name where it is not the option's."""
        self.add_argument(
            f"--{name}", help=text, metavar=metavar, type=type, default=default, dest=into,
            action="append" if many else "store",
        )  # fmt: skip

    def optional(self, name: str, text: str, metavar: str) -> None:
        """An option whose value may be left out, and is True then."""
        self.add_argument(f"--{name}", help=text, metavar=metavar, nargs="?", const=True)

    def flag(self, name: str, text: str, *, empty_in: str | None = None) -> None:
        """An option without a value; with `empty_in` it stands for '' in that list."""
        if empty_in is None:
            self.add_argument(f"--{name}", help=text, action="store_true")
        else:
            self.add_argument(
                f"--{name}", help=text, action="append_const", const="", dest=empty_in
            )

    def bootstrap(self) -> None:
        """The options of the commands that use `Client`."""
        self.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
        self.option("command-config", "A properties file for the client.", "FILE")


def _print_error(error: Exception) -> int:
    print(error, file=sys.stderr)
    return 1


def run(
    parser: OptionParser,
    command: Callable[[Options], int | None],
    arguments: Sequence[str],
    failed: Callable[[Exception], int] = _print_error,
) -> int:
    """Parses the options and runs the command. `failed` prints errors, returns the exit code."""
    try:
        code = _run(parser, command, arguments, failed)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whatever reads our output has ended
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        with suppress(OSError):
            print(f"The output cannot be written: {_reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(
    parser: OptionParser,
    command: Callable[[Options], int | None],
    arguments: Sequence[str],
    failed: Callable[[Exception], int],
) -> int:
    try:
        if not arguments:
            raise UsageError(parser.description or "")
        return command(parser.parse_args(arguments, Options())) or 0
    except UsageError as error:
        print(error, file=sys.stderr)
        parser.print_help(sys.stderr)
        return 1
    except (CliError, KafkaError) as error:
        return failed(error)
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)


def _drop_output() -> None:
    """Discards what is still buffered: else writing it at exit would print another error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse_added_configs(text: str) -> dict[str, str]:
    """`a=b,c=[d,e]` as pairs; brackets keep commas together. Raises CliError."""
    pairs = [_EQUALS.split(each) for each in _BETWEEN.split(text.rstrip(","))]
    if any(len(pair) != 2 for pair in pairs):
        raise CliError(
            "requirement failed: Invalid entity config: all configs to be added must be in the"
            ' format "key=val".'
        )
    return {key.strip(): re.sub(r"[\[\]]", "", value).strip() for key, value in pairs}


def check_are_set(names: Iterable[str], current: Collection[str], what: str = "config(s)") -> None:
    """Raises CliError if one of `names` is not in `current`: settings that are set, or loggers."""
    unknown = [name for name in names if name not in current]
    if unknown:
        raise CliError(f"Invalid {what}: {','.join(unknown)}")


def read_properties(path: str | None) -> dict[str, str]:
    """A properties file's pairs; none without a file."""
    return {} if path is None else value_parsers.read_properties(read_text(path))


def read_text(path: str) -> str:
    """The text of a file. Raises CliError."""
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{path} cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
