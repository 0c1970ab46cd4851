"""The types of Protobuf schemas, and how their names are resolved. Pure.

They come from .proto text (proto_text.py) or from a compiled descriptor (proto_descriptor.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from monitoring.schema_registry.decoding_limits import DEPTH_MAX, SchemaInvalid

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)  # how values are written
TYPES_MAX = 20_000  # messages, enums and fields in one schema with its references
_SCOPES_MAX = 100
_WIRE_TYPES = {
    "double": FIXED64, "fixed64": FIXED64, "sfixed64": FIXED64, "float": FIXED32,
    "fixed32": FIXED32, "sfixed32": FIXED32, "string": BYTES, "bytes": BYTES, "int32": VARINT,
    "int64": VARINT, "uint32": VARINT, "uint64": VARINT, "sint32": VARINT, "sint64": VARINT,
    "bool": VARINT,
}  # fmt: skip
SCALARS = frozenset(_WIRE_TYPES)


@dataclass(slots=True)
class Enum:
    """Several names may have one number (allow_alias): the first one is shown, all are accepted."""

    name: str
    values: dict[int, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, number: int) -> None:
        self.values.setdefault(number, name)
        self.numbers.setdefault(name, number)


@dataclass(slots=True)
class Field:
    """`type` is a scalar or, until it is resolved, the name of a message or enum."""

    name: str
    number: int
    type: str
    is_repeated: bool = False
    is_explicit: bool = False  # unset and zero differ, also for scalars
    oneof: str = ""
    map_key: str = ""  # the type of a map's keys; `type` is that of its values
    message: "Message | None" = None
    enum: Enum | None = None

    @property
    def has_presence(self) -> bool:
        """Whether an unset field is left out; otherwise it is shown with its default."""
        return not self.is_repeated and (self.is_explicit or self.message is not None)

    @property
    def wire_type(self) -> int:
        """How a single value is written."""
        if self.message is not None:
            return BYTES
        return VARINT if self.enum is not None else _WIRE_TYPES[self.type]

    def entry(self) -> tuple["Field", "Field"]:
        """Key and value of a map: each entry is a message with these two fields."""
        key = Field("key", 1, self.map_key)
        return key, Field("value", 2, self.type, message=self.message, enum=self.enum)


@dataclass(slots=True)
class Message:
    name: str
    full_name: str = ""
    fields: list[Field] = field(default_factory=list)
    messages: list["Message"] = field(default_factory=list)  # without the entries of maps
    enums: list[Enum] = field(default_factory=list)
    # The messages within, and None for each map, as compiled descriptors have them.
    nested: list["Message | None"] = field(default_factory=list)

    def add(self, message: "Message") -> None:
        """Add a message within this one."""
        self.messages.append(message)
        self.nested.append(message)


@dataclass(slots=True)
class File:
    package: str = ""
    imports: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)


class Types:
    """All messages and enums of several files."""

    def __init__(self, files: Iterable[File]) -> None:
        """Raises SchemaInvalid if a field has an unknown type."""
        self.messages: dict[str, Message] = {}
        self._enums: dict[str, Enum] = {}
        self._count = 0
        all_messages: list[Message] = []  # also if another one has the same full name
        for each in files:
            self._add(each.package, each.messages, each.enums, 0, all_messages)
        for message in all_messages:
            for member in message.fields:
                self._resolve(member, message)

    def _add(
        self, scope: str, messages: list[Message], enums: list[Enum], depth: int,
        all_messages: list[Message],
    ) -> None:  # fmt: skip
        if depth > DEPTH_MAX:
            raise SchemaInvalid(f"it is nested more than {DEPTH_MAX} times")
        self._count += len(enums) + len(messages) + sum(len(each.fields) for each in messages)
        if self._count > TYPES_MAX:
            raise SchemaInvalid(f"it has more than {TYPES_MAX} types and fields")
        for enum in enums:
            self._enums[_joined(scope, enum.name)] = enum
        for message in messages:
            if len({each.name for each in message.fields}) < len(message.fields):
                raise SchemaInvalid(f"message {message.name[:100]!r} has two fields of one name")
            message.full_name = _joined(scope, message.name)
            self.messages[message.full_name] = message
            all_messages.append(message)
            self._add(message.full_name, message.messages, message.enums, depth + 1, all_messages)

    def _resolve(self, member: Field, message: Message) -> None:
        if member.type in SCALARS:
            return
        for name in _candidates(member.type, message.full_name):
            if name in self.messages:
                member.message = self.messages[name]
                return
            if name in self._enums:
                member.enum = self._enums[name]
                return
        raise SchemaInvalid(f"it names the unknown type {member.type[:100]!r}")


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _candidates(name: str, scope: str) -> Iterator[str]:
    """The full names that a name can have within a scope, the innermost first."""
    if name.startswith("."):
        yield name[1:]
        return
    for _ in range(_SCOPES_MAX):
        if not scope:
            break
        yield f"{scope}.{name}"
        scope = scope.rpartition(".")[0]
    yield name


def message_at(file: File, indexes: list[int]) -> Message | None:
    """The message to which a record's message indexes point; None = there is none.

    Java's serializer does not count the entries of maps as messages, those of Python and Go do. If
    both ways find a message, Java's holds.
    """
    top: Sequence[Message | None] = file.messages
    return _at(top, indexes, lambda message: message.messages) or _at(
        top, indexes, lambda message: message.nested
    )


def _at(
    messages: Sequence[Message | None],
    indexes: list[int],
    within: Callable[[Message], Sequence[Message | None]],
) -> Message | None:
    found: Message | None = None
    for index in indexes:
        found = messages[index] if index < len(messages) else None
        if found is None:
            return None
        messages = within(found)
    return found
