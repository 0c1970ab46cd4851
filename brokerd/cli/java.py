"""Java's ways where they show in the output of Kafka's tools."""

import re
from collections.abc import Iterable

from brokerd.cli.options import CliError
from brokerd.groups.partitioner import java_string_hash

_CAPACITY_MIN = 16


def hash_map_order(names: Iterable[str], *, sized: bool = False) -> list[str]:
    """The order in which a `HashMap` with these keys, put in this order, gives them back; `sized`
    is one that was made for as many keys as there are."""
    keys = list(dict.fromkeys(names))
    capacity = 1 << max(0, len(keys) - 1).bit_length() if sized else _CAPACITY_MIN
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _spread(key) & (capacity - 1))


def _spread(key: str) -> int:
    code = java_string_hash(key) & 0xFFFFFFFF
    return code ^ code >> 16


def include_list(pattern: str) -> "re.Pattern[str]":
    """A topic filter: a regular expression in which a comma means `|`. Raises CliError."""
    text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        return re.compile(text)
    except re.error:
        raise CliError(f"{text} is an invalid regex.") from None
