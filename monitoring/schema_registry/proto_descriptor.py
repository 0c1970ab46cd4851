"""Types from a compiled .proto file (FileDescriptorProto).

Some serializers register this, in base64, in place of the text. The well-known imports come from
here, too. Only the descriptor itself is parsed by the library protobuf: parsing a record by a
schema of others could take any amount of memory.
"""

import base64
import binascii
import importlib
import re
from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from monitoring.schema_registry.decoding_limits import DEPTH_MAX, SchemaInvalid
from monitoring.schema_registry.proto_types import SCALARS, Enum, Field, File, Message

_FIELD = descriptor_pb2.FieldDescriptorProto
_KNOWN_IMPORT = re.compile(r"google/(protobuf|type)/([a-z_]+)\.proto")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_CONFLUENT_DECIMAL = "confluent/type/decimal.proto"


def from_base64(text: str) -> File | None:
    """The types, or None if this is not a descriptor in base64. Raises SchemaInvalid."""
    if not _BASE64.fullmatch(text):
        return None
    proto = descriptor_pb2.FileDescriptorProto()
    try:
        proto.ParseFromString(base64.b64decode(text))
    except (binascii.Error, DecodeError, ValueError):
        return None
    return _file(proto)


@lru_cache(maxsize=64)
def _known_bytes(path: str) -> bytes | None:
    found = _KNOWN_IMPORT.fullmatch(path)
    if found is None:
        return None
    try:
        module = importlib.import_module(f"google.{found[1]}.{found[2]}_pb2")
    except ImportError:
        return None
    data: bytes = module.DESCRIPTOR.serialized_pb
    return data


def known_import(path: str) -> File | None:
    """The file, if every Protobuf compiler or registry has it, such as
    google/protobuf/timestamp.proto."""
    if path == _CONFLUENT_DECIMAL:
        fields = [Field("value", 1, "bytes"), Field("precision", 2, "uint32"),
                  Field("scale", 3, "int32")]  # fmt: skip
        return File("confluent.type", messages=[Message("Decimal", fields=fields)])
    data = _known_bytes(path)
    return None if data is None else _file(descriptor_pb2.FileDescriptorProto.FromString(data))


def _file(proto: Any) -> File:
    is_proto3 = proto.syntax == "proto3"
    return File(
        proto.package,
        list(proto.dependency),
        [_message(each, is_proto3, 0) for each in proto.message_type],
        [_enum(each) for each in proto.enum_type],
    )


def _message(proto: Any, is_proto3: bool, depth: int) -> Message:
    if depth > DEPTH_MAX:
        raise SchemaInvalid(f"it is nested more than {DEPTH_MAX} times")
    entries = {each.name: each for each in proto.nested_type if each.options.map_entry}
    message = Message(
        proto.name,
        fields=[_field(each, proto, entries, is_proto3) for each in proto.field],
        enums=[_enum(each) for each in proto.enum_type],
    )
    for each in proto.nested_type:
        if each.options.map_entry:
            message.nested.append(None)
        else:
            message.add(_message(each, is_proto3, depth + 1))
    return message


def _field(proto: Any, message: Any, entries: dict[str, Any], is_proto3: bool) -> Field:
    is_repeated = proto.label == _FIELD.LABEL_REPEATED
    kind = _type(proto)
    if is_repeated and (entry := entries.get(kind.rpartition(".")[2])) is not None:
        types = {each.number: _type(each) for each in entry.field}
        if 2 not in types or types.get(1) not in SCALARS:
            raise SchemaInvalid("a map has keys or values of an unknown type")
        # A map is stored as repeated entries: field 1 is the key, field 2 the value.
        return Field(proto.name, proto.number, types[2], is_repeated=True, map_key=types[1])
    has_oneof = proto.HasField("oneof_index") and not proto.proto3_optional
    if has_oneof and not 0 <= proto.oneof_index < len(message.oneof_decl):
        raise SchemaInvalid("a field is in a oneof that does not exist")
    oneof = message.oneof_decl[proto.oneof_index].name if has_oneof else ""
    is_explicit = bool(not is_proto3 or proto.proto3_optional or oneof)
    return Field(proto.name, proto.number, kind, is_repeated, is_explicit, oneof)


def _type(proto: Any) -> str:
    """The name of a scalar, or of a message or enum."""
    if proto.type_name:
        name: str = proto.type_name
        return name
    return str(_FIELD.Type.Name(proto.type)).removeprefix("TYPE_").lower()


def _enum(proto: Any) -> Enum:
    enum = Enum(proto.name)
    for each in proto.value:
        enum.add(each.name, each.number)
    return enum
