"""Parses a Procfile: one `name: command` per line; `#` starts a comment line. Pure.

A command is split into words as a shell does, but it is run without a shell. `$NAME` and `${NAME}`
are replaced after the split, so that a path with blanks stays one word.
"""

import re
import shlex
import string
from collections.abc import Mapping

_LINE = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_-]*):\s*(\S.*)$")


class ProcfileError(ValueError):
    """A line that cannot be parsed, a duplicate name, or an unknown variable."""


def parse(text: str) -> dict[str, str]:
    """Name → command, in the order of the file. Variables are not replaced yet."""
    commands: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            raise ProcfileError(f"Procfile line {number} is not `name: command`: {line!r}")
        name, command = match.groups()
        if name in commands:
            raise ProcfileError(f"Procfile line {number}: {name} occurs twice")
        commands[name] = command
    return commands


def expand(command: str, variables: Mapping[str, str], python: str) -> list[str]:
    """The words to execute, with variables replaced; a leading `python` becomes `python`'s path."""
    try:
        words = [string.Template(word).substitute(variables) for word in shlex.split(command)]
    except KeyError as error:
        raise ProcfileError(f"unknown variable ${error.args[0]} in: {command}") from None
    except ValueError as error:
        raise ProcfileError(f"{error}: {command}") from None
    if words[0] == "python":
        words[0] = python
    return words
