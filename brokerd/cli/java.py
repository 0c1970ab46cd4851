"""Java's ways where they show in the output of Kafka's tools."""

import re
import string
from base64 import urlsafe_b64decode
from collections.abc import Iterable
from uuid import UUID

from brokerd.cli.options import CliError
from brokerd.coordinator.group.partitioner import java_string_hash
from brokerd.topic_partition import TopicPartition

_CAPACITY_MIN = 16
_BASE64 = frozenset(string.ascii_letters + string.digits + "-_")
_ID_BYTES, _ID_TEXT_MAX = 16, 24


def hash_map_order(names: Iterable[str], *, sized: bool = False) -> list[str]:
    """The order in which a `HashMap` with these keys, put in this order, gives them back; `sized`
    is one that was made for as many keys as there are."""
    keys = list(dict.fromkeys(names))
    capacity = 1 << max(0, len(keys) - 1).bit_length() if sized else _CAPACITY_MIN
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _spread(key) & (capacity - 1))


def hash_set_order(by_topic: Iterable[tuple[str, tuple[int, ...]]]) -> list[TopicPartition]:
    """The order in which Scala's mutable set of `TopicPartition`, to which they were added topic
    by topic, gives them back."""
    found: set[TopicPartition] = set()
    capacity = _CAPACITY_MIN
    for topic, indexes in by_topic:
        wanted = int((len(set(indexes)) + 1) / 0.75)
        capacity = max(capacity, 1 << max(0, wanted - 1).bit_length())
        for index in dict.fromkeys(indexes):
            if len(found) + 1 >= capacity * 3 // 4:
                capacity *= 2
            found.add((topic, index))

    def place(each: TopicPartition) -> tuple[int, int]:
        return _scala_place(31 * (31 + each[1]) + java_string_hash(each[0]), capacity)

    return sorted(found, key=place)


def scala_map_order(names: Iterable[str]) -> list[str]:
    """The order in which Scala's mutable map with these keys gives them back."""
    keys = list(dict.fromkeys(names))
    capacity = _CAPACITY_MIN
    while len(keys) >= capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _scala_place(java_string_hash(key), capacity))


def _scala_place(code: int, capacity: int) -> tuple[int, int]:
    spread = _mixed(code)
    return spread & (capacity - 1), spread - (spread >> 31 << 32)


def _spread(key: str) -> int:
    return _mixed(java_string_hash(key))


def _mixed(code: int) -> int:
    code &= 0xFFFFFFFF
    return code ^ code >> 16


def include_list(pattern: str) -> "re.Pattern[str]":
    """A topic filter: a regular expression in which a comma means `|`. Raises CliError."""
    text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        return re.compile(text)
    except re.error:
        raise CliError(f"{text} is an invalid regex.") from None


def uuid_of(text: str) -> UUID:
    """`Uuid.fromString`: base64url, with or without padding. Raises CliError in its words."""
    if len(text) > _ID_TEXT_MAX:
        raise CliError(
            f"Input string with prefix `{text[:_ID_TEXT_MAX]}` is too long to be decoded as a"
            " base64 UUID"
        )
    bare = text.rstrip("=")
    for each in bare:
        if each not in _BASE64:
            # Java looks at the characters as bytes of Latin-1
            raise CliError(f"Illegal base64 character {each.encode('latin-1', 'replace').hex()}")
    if len(bare) % 4 == 1:
        raise CliError("Last unit does not have enough valid bits")
    data = urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    if len(data) != _ID_BYTES:
        raise CliError(
            f"Input string `{text}` decoded as {len(data)} bytes, which is not equal to the"
            f" expected {_ID_BYTES} bytes of a base64-encoded UUID"
        )
    return UUID(bytes=data)


def fields(text: str, separator: str) -> list[str]:
    """As String.split at one character: no empty text at the end."""
    return split(re.compile(re.escape(separator)), text)


def split(pattern: "re.Pattern[str]", text: str) -> list[str]:
    """As Pattern.split: no empty text at the end, nor before a match of nothing at the front."""
    parts, begin = [], 0
    for match in pattern.finditer(text):
        if match.end() > 0:
            parts.append(text[begin : match.start()])
            begin = match.end()
    if not parts:
        return [text]
    parts.append(text[begin:])
    while parts and not parts[-1]:
        parts.pop()
    return parts
