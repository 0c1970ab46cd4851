"""Reads a Procfile: one `name: command` a line, `#` starts a comment line. Pure.

A command is split as a shell would split it, but no shell runs it. `$NAME` and `${NAME}` stand for
variables, in every word after the split, so that a path with blanks stays one word.
"""

import re
import shlex
import string
from collections.abc import Mapping

_LINE = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_-]*):\s*(\S.*)$")


class ProcfileError(ValueError):
    """A line that cannot be read, a name given twice, or an unknown variable."""


def parse(text: str) -> dict[str, str]:
    """Name → command as written, in the order of the file."""
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
            raise ProcfileError(f"Procfile line {number}: {name} is there twice")
        commands[name] = command
    return commands


def expand(command: str, variables: Mapping[str, str], python: str) -> list[str]:
    """The words to execute; a leading `python` becomes the path of the interpreter in use."""
    try:
        words = [string.Template(word).substitute(variables) for word in shlex.split(command)]
    except KeyError as error:
        raise ProcfileError(f"unknown variable ${error.args[0]} in: {command}") from None
    except ValueError as error:
        raise ProcfileError(f"{error}: {command}") from None
    if words[0] == "python":
        words[0] = python
    return words
