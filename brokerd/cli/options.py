"""Options as Kafka's own tools take them, and how a command fails.

Names, `--name=value` and the exit code 1 for a wrong line are Kafka's; as there, one hyphen is as
good as two, what follows an option with a value is that value, however it begins, and words that
belong to no option, or stand behind `--`, say nothing.
What is wrong is said first, then the options are listed, both on standard error.
"""

import argparse
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import brokerd
from brokerd.config import values

Options = argparse.Namespace


class CliError(Exception):
    """What is printed for the user in one line; the command ends with 1."""


class UsageError(CliError):
    """As CliError, and the options are listed after the line."""


class OptionParser(argparse.ArgumentParser):
    """One command's options. None is required by argparse: `require` says it in Kafka's words."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"brokerd {command}", description=description, formatter_class=_help_width,
            allow_abbrev=False, add_help=False,
        )  # fmt: skip
        self._bare = {"help", "version"}
        self._with_value: set[str] = set()
        self._optional: set[str] = set()
        self._once: set[str] = set()
        self.add_argument("--help", help="List the options.", action="help")
        self.add_argument("--version", help="Print the version.", action=_PrintVersion, nargs=0)

    def print_help(self, file: Any = None) -> None:
        """argparse's own says nothing where it cannot write."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise UsageError(message[:1].upper() + message[1:])

    def option(
        self, name: str, text: str, metavar: str, type: Callable[[str], object] = str,
        *, default: object = None, many: bool = False, into: str | None = None,
    ) -> None:  # fmt: skip
        """An option with a value; with `many` it may be repeated and gives a list. `into` is the
        attribute's name where it is not the option's."""
        action = "append" if many else "store"

        def parse(given: str) -> object:
            try:
                return type(given)
            except ValueError:
                message = f"Cannot parse argument '{given}' of option {name}"
                raise CliError(message) from None

        self._with_value.add(name)
        if not many:
            self._once.add(name)
        self.add_argument(
            f"--{name}", help=text, metavar=metavar, type=parse, default=default, action=action,
            dest=into,
        )  # fmt: skip

    def optional(self, name: str, text: str, metavar: str) -> None:
        """An option whose value may be left out: True then."""
        self._optional.add(name)
        self.add_argument(f"--{name}", help=text, metavar=metavar, nargs="?", const=True)

    def flag(self, name: str, text: str, *, empty_in: str | None = None) -> None:
        """An option without a value; with `empty_in` it stands for '' in that list."""
        self._bare.add(name)
        if empty_in is None:
            self.add_argument(f"--{name}", help=text, action="store_true")
            return
        self.add_argument(f"--{name}", help=text, action="append_const", const="", dest=empty_in)

    def parse(self, arguments: Sequence[str]) -> Options:
        """What the line says. Raises CliError."""
        return self.parse_args(list(self._plain(deque(arguments))))

    def _plain(self, words: deque[str]) -> Iterator[str]:
        """Each option as a word that argparse cannot take for anything else."""
        seen: set[str] = set()
        while words and (word := words.popleft()) != "--":
            if not _is_option(word):
                continue
            name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
            if name in seen:
                raise CliError(
                    f"Found multiple arguments for option {name}, but you asked for only one"
                )
            seen |= self._once & {name}
            if name in self._with_value and not has_value and not words:
                raise UsageError(f"Option {name} requires an argument")
            optional = name in self._optional and words and not _is_option(words[0])
            if name in self._with_value or optional or (has_value and name in self._optional):
                yield f"--{name}={value if has_value else words.popleft()}"
            elif name in self._bare | self._optional:
                yield f"--{name}"
            else:
                raise UsageError(f"{name} is not a recognized option")

    def bootstrap(self) -> None:
        """What every command that talks to brokers takes."""
        self.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
        self.option("command-config", "A properties file for the client.", "FILE")


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


class _PrintVersion(argparse.Action):
    """Ends the command before anything is checked or asked, as --help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(brokerd.__version__)
        parser.exit()


def run(parser: OptionParser, command: Callable[[Options], int], arguments: Sequence[str]) -> int:
    """Parses and runs; every failure is a line on standard error and exit code 1."""
    try:
        code = _run(parser, command, arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our lines has seen enough
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        with suppress(OSError):
            print(f"The output cannot be written: {_reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(parser: OptionParser, command: Callable[[Options], int], arguments: Sequence[str]) -> int:
    try:
        if not arguments:
            raise UsageError(parser.description or "")
        return command(parser.parse(arguments))
    except UsageError as error:
        print(error, file=sys.stderr)
        parser.print_help(sys.stderr)
        return 1
    except CliError as error:
        print(error, file=sys.stderr)
        return 1
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)


def _drop_output() -> None:
    """What is left in the buffer goes nowhere, so that the end of the process is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require(options: Options, *names: str) -> None:
    """UsageError unless each option was given."""
    for name in names:
        if not has(options, name):
            raise UsageError(f'Missing required argument "[{name}]"')


def exclude(options: Options, used: str, *others: str) -> None:
    """UsageError where `used` stands together with one of the others."""
    if not has(options, used):
        return
    for other in others:
        if has(options, other):
            raise UsageError(f'Option "[{used}]" can\'t be used with option "[{other}]"')


def has(options: Options, name: str) -> bool:
    """Whether the option was given (of one with a default: whether it is not empty)."""
    value = getattr(options, name.replace("-", "_"))
    return value is not None and value is not False


def text_of(options: Options, name: str) -> str | None:
    """The value of an option that may stand without one; None where it does or is not there."""
    value = getattr(options, name.replace("-", "_"))
    return value if isinstance(value, str) else None


def check_available(options: Options, where: Mapping[str, Sequence[str]]) -> None:
    """UsageError where an option stands without any of those that it belongs to."""
    lone = [
        name
        for name, others in where.items()
        if has(options, name) and not any(has(options, each) for each in others)
    ]
    if lone:
        raise UsageError(
            f"Option(s) [{', '.join(lone)}] are unavailable given other options on the command line"
        )


def one_of(options: Options, actions: Sequence[str], message: str) -> str:
    """The one action that was asked for."""
    wanted = [action for action in actions if has(options, action)]
    if len(wanted) != 1:
        raise UsageError(message)
    return wanted[0]


def read_properties(path: str | None) -> dict[str, str]:
    """A properties file's pairs; none without a file."""
    if path is None:
        return {}
    return values.read_properties(read_text(path))


def read_text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{path} cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _help_width(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=32, width=100)
