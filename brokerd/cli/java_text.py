"""Text as Kafka's tools parse it with Java: topic filters, topic ids, String.split."""

import re
import string
from base64 import urlsafe_b64decode
from uuid import UUID

from brokerd.cli.options import CliError

_BASE64 = frozenset(string.ascii_letters + string.digits + "-_")
_ID_BYTES, _ID_TEXT_MAX = 16, 24


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
