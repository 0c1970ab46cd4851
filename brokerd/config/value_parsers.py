"""How one value of a properties file is read: text in, typed value out, or a ValueError that says
what would have been right. Also the properties format itself, as Java reads it."""

import re
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import IntEnum
from typing import Any

from brokerd.integer_ranges import INT32_MAX, INT64_MAX

Parser = Callable[[str], Any]
INT_MAX = INT32_MAX
LONG_MAX = INT64_MAX
DOUBLE_MAX = sys.float_info.max


class ConfigType(IntEnum):
    """Types of settings, with their numbers on the wire (ConfigDef.Type)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where the value of a setting comes from, with Kafka's names and numbers on the wire."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6

    @classmethod
    def _missing_(cls, value: object) -> "ConfigSource":
        """Sources of newer brokers."""
        return cls.UNKNOWN


def ascii_digits(text: str) -> str:
    """The text of a number as Java reads it: Python takes digits of every script, and 1_000."""
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return text


def integer(low: int, high: int = LONG_MAX) -> Parser:
    """A whole number between `low` and `high`, both included."""

    def parse(text: str) -> int:
        try:
            value = int(ascii_digits(text))
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number") from None
        if not low <= value <= high:
            limit = f"at least {low}" if value < low else f"at most {high}"
            raise ValueError(f"{value} is out of range, it must be {limit}")
        return value

    return parse


def limit(text: str) -> int:
    """A whole number; any below zero means without limit, -1."""
    return max(-1, int(integer(-LONG_MAX - 1)(text)))


def integer_or(also: int, low: int, high: int) -> Parser:
    """A whole number between `low` and `high`, or `also`."""
    within = integer(low, high)

    def parse(text: str) -> int:
        return also if text.strip() == str(also) else int(within(text))

    return parse


def _number(text: str) -> float:
    try:
        return float(ascii_digits(text))
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def ratio(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{value} is out of range, it must lie between 0 and 1")
    return value


def number_above(low: float) -> Parser:
    """A number, also in Java's notation with an exponent, above `low`."""

    def parse(text: str) -> float:
        value = _number(text)
        if not low < value <= DOUBLE_MAX:
            raise ValueError(f"{text} is out of range, it must be above {low:g}")
        return value

    return parse


def java_double(value: float) -> str:
    """As Double.toString: an exponent below 0.001 and from 10,000,000 on."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *rest = map(str, digits)
    power = len(rest) + int(exponent)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power}"


def boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def string(text: str) -> str:
    return text


_ZOOKEEPER_HOST = re.compile(r"(?:\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9_.-]+)(?::(\d{1,5}))?")
_CHROOT = re.compile(r"(?:/[^/\s]+)+/?|/?")


def zookeeper_connect(text: str) -> str:
    """`host:port,host:port/chroot`; ports are 2181 and the chroot is none where not given."""
    if not text:
        raise ValueError("it must not be empty")
    before, slash, chroot = text.partition("/")
    hosts = [host.strip() for host in before.split(",")]
    for host in hosts:
        match = _ZOOKEEPER_HOST.fullmatch(host)
        if match is None or not 1 <= int(match.group(1) or 2181) <= 65535:
            raise ValueError(f"{host!r} is not host:port, as in zk1:2181,zk2:2181/chroot")
    steps = chroot.split("/")
    if not _CHROOT.fullmatch(slash + chroot) or "." in steps or ".." in steps:
        raise ValueError(f"{slash + chroot!r} is not a path, as in zk1:2181,zk2:2181/chroot")
    return (",".join(hosts) + slash + chroot).rstrip("/")


def one_of(*choices: str) -> Parser:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return parse


def words(text: str) -> tuple[str, ...]:
    """A comma-separated list; empty items are dropped."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def comma_list(values: Iterable[object]) -> str:
    """The text of a list, as `words` reads it."""
    return ",".join(map(str, values))


def words_of(*choices: str) -> Parser:
    def parse(text: str) -> tuple[str, ...]:
        found = tuple(word.strip() for word in text.split(","))
        if not set(found) <= set(choices):
            raise ValueError(f"{text!r} is not a list of {', '.join(choices)}")
        return found

    return parse


def host_limits(text: str) -> str:
    """`host:number,…`, kept as it is written."""
    for word in words(text):
        host, _, number = word.rpartition(":")
        if not host or not number.isascii() or not number.isdecimal():
            raise ValueError(f"{word!r} is not host:number")
    return text


_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", one, text)


def read_properties(text: str) -> dict[str, str]:
    """Java's properties format: comments by # or !, key=value, key:value or key value, lines
    continued by a backslash, \\uXXXX escapes. The last of two equal keys wins."""
    values: dict[str, str] = {}
    pending = ""
    for raw in text.splitlines():
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        line = pending + line
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            pending = line[:-1]
            continue
        pending = ""
        match = _KEY.fullmatch(line)
        assert match is not None
        values[_unescape(match.group(1))] = _unescape(match.group(2)).strip()
    return values
