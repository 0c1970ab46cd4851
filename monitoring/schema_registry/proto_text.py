"""Parses .proto text into types: proto2, proto3 and editions. Pure.

What only matters to other programs is skipped: options, services, extensions, reserved names. The
time is linear in the length of the text.
"""

import re
from collections.abc import Iterator

from monitoring.schema_registry.decoding_limits import DEPTH_MAX, SchemaInvalid
from monitoring.schema_registry.proto_types import SCALARS, Enum, Field, File, Message

_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*(?s:.*?)\*/
    |(?P<word>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|\d[\w.]*))
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<mark>[{}()\[\]<>=;,:/.+-])""",
    re.VERBOSE,
)
_LABELS = ("optional", "required", "repeated")
_NAME_LENGTH_MAX = 1_000
_NUMBER_MAX = (1 << 29) - 1
_END = ""


def parse(text: str) -> File:
    """Raises SchemaInvalid."""
    return _Parser(text).file()


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            line = text.count("\n", 0, at) + 1
            raise SchemaInvalid(f"line {line} of its text has an unexpected character")
        if token.lastgroup:
            if token.end() - at > _NAME_LENGTH_MAX and token.lastgroup != "string":
                raise SchemaInvalid(f"a name has more than {_NAME_LENGTH_MAX} characters")
            yield token[0]
        at = token.end()


class _Parser:
    def __init__(self, text: str) -> None:
        self._next = _tokens(text).__next__
        self._is_proto3 = False
        self._token = _END
        self._step()

    def file(self) -> File:
        file = File()
        while self._token != _END:
            word = self._take()
            if word in ("syntax", "edition"):
                self._expect("=")
                self._is_proto3 = _unquoted(self._take()) == "proto3"
                self._expect(";")
            elif word == "package":
                file.package = self._take()
                self._expect(";")
            elif word == "import":
                if self._token in ("public", "weak", "option"):
                    self._step()
                file.imports.append(_unquoted(self._take()))
                self._expect(";")
            elif word == "message":
                file.messages.append(self._message(self._take(), 0))
            elif word == "enum":
                file.enums.append(self._enum())
            elif word not in (";", "export", "local"):  # editions: before a message or enum
                self._skip_statement()  # option, service, extend
        return file

    def _message(self, name: str, depth: int) -> Message:
        """Parse a message from `{` to `}`."""
        if depth > DEPTH_MAX:
            raise SchemaInvalid(f"it is nested more than {DEPTH_MAX} times")
        message = Message(_checked(name))
        self._expect("{")
        while self._token != "}":
            self._member(message, "", depth)
        self._step()
        return message

    def _member(self, message: Message, oneof: str, depth: int) -> None:
        """One statement within a message or a oneof."""
        word = self._take()
        if word in ("message", "enum", "oneof") and self._token not in ("=", _END):
            if word == "message":
                message.add(self._message(self._take(), depth + 1))
            elif word == "enum":
                message.enums.append(self._enum())
            else:
                self._oneof(message, depth)
        elif word in ("option", "extensions", "reserved", "extend"):
            self._skip_statement()
        elif word == "map" and self._token == "<":
            self._map(message)
        elif word not in (";", "export", "local"):  # editions: before a message or enum
            self._field(message, word, oneof, depth)

    def _oneof(self, message: Message, depth: int) -> None:
        name = self._take()
        self._expect("{")
        while self._token != "}":
            self._member(message, name, depth)
        self._step()

    def _field(self, message: Message, word: str, oneof: str, depth: int) -> None:
        label = ""
        if word in _LABELS:
            label, word = word, self._take()
        if word == "group":
            self._group(message, label, oneof, depth)
            return
        name, number = self._numbered()
        is_repeated = label == "repeated"
        is_explicit = bool(oneof or label or not self._is_proto3)
        message.fields.append(Field(name, number, _checked(word), is_repeated, is_explicit, oneof))
        self._skip_statement()  # its options

    def _group(self, message: Message, label: str, oneof: str, depth: int) -> None:
        name, number = self._numbered()
        if self._token == "[":
            self._skip_balanced()
        message.add(self._message(name, depth + 1))
        is_repeated = label == "repeated"
        # A group is a message with the group's name; its field has that name in lower case.
        field = Field(name.lower(), number, name, is_repeated, is_explicit=True, oneof=oneof)
        message.fields.append(field)

    def _map(self, message: Message) -> None:
        self._expect("<")
        key = self._take()
        self._expect(",")
        value = self._take()
        self._expect(">")
        name, number = self._numbered()
        if key not in SCALARS:
            raise SchemaInvalid("a map has keys of an unknown type")
        field = Field(name, number, _checked(value), is_repeated=True, map_key=key)
        message.fields.append(field)
        message.nested.append(None)  # None = a map (proto_types.Message)
        self._skip_statement()

    def _numbered(self) -> tuple[str, int]:
        name = _checked(self._take())
        self._expect("=")
        return name, _number(self._take(), 1, _NUMBER_MAX)

    def _enum(self) -> Enum:
        enum = Enum(_checked(self._take()))
        self._expect("{")
        while self._token != "}":
            name = self._take()
            if name not in ("option", "reserved") or self._token == "=":
                if name == ";":
                    continue
                self._expect("=")
                sign = self._take() if self._token in ("-", "+") else ""
                number = _number(sign + self._take(), -(1 << 31), (1 << 31) - 1)
                enum.add(_checked(name), number)
            self._skip_statement()
        self._step()
        return enum

    def _skip_statement(self) -> None:
        """Skip a statement, with the `;` or the block that ends it."""
        while self._token != ";":
            if self._token in ("{", "[", "("):
                is_block = self._token == "{"
                self._skip_balanced()
                # The block of a service ends the statement, the value of an option does not.
                if is_block and self._token != ";":
                    return
            elif self._token in ("}", _END):
                raise self._unexpected()
            else:
                self._step()
        self._step()

    def _skip_balanced(self) -> None:
        depth = 0
        while True:
            if self._token in ("{", "[", "("):
                depth += 1
            elif self._token in ("}", "]", ")"):
                depth -= 1
            elif self._token == _END:
                raise self._unexpected()
            self._step()
            if depth == 0:
                return

    def _step(self) -> None:
        try:
            self._token = self._next()
        except StopIteration:
            self._token = _END

    def _take(self) -> str:
        token = self._token
        if token == _END:
            raise self._unexpected()
        self._step()
        return token

    def _expect(self, token: str) -> None:
        if self._token != token:
            raise self._unexpected()
        self._step()

    def _unexpected(self) -> SchemaInvalid:
        return SchemaInvalid(f"its text does not parse at {self._token[:40]!r}")


def _unquoted(token: str) -> str:
    return token[1:-1] if token[:1] in ("'", '"') else token


def _number(token: str, least: int, most: int) -> int:
    try:
        is_octal = len(token) > 1 and token[0] == "0" and token.isdecimal()
        number = int(token, 8 if is_octal else 0)
    except ValueError as error:
        raise SchemaInvalid(f"{token[:40]!r} is not a number") from error
    if not least <= number <= most:
        raise SchemaInvalid(f"the number {token[:40]} is out of range")
    return number


def _checked(name: str) -> str:
    if not (name[:1].isalpha() or name[:1] in "._") or not name.isprintable():
        raise SchemaInvalid(f"{name[:40]!r} is not a name")
    return name
