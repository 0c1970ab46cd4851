"""The protocol's own error for a request that could not be served (Kafka's
AbstractRequest.getErrorResponse). Kafka has errors at the top, per topic, per partition or per
resource. The response class itself says where: the request's items are mirrored into it and every
`error_code` is set.
"""

from typing import Any

from brokerd.errors import KafkaError
from brokerd.protocol.messages import response_type
from brokerd.protocol.schema_writer import FieldShape, shapes

_ALIASES = {
    "partition_index": ("partition", "index"),
    "name": ("topic",),
    "topic": ("name",),
    "error_message": (),
}
"""Where a response's field has another name in the request."""


def error_fields(api_key: int, version: int, request: Any, error: KafkaError) -> dict[str, Any]:
    """The fields of a response that says `error` wherever this API and version can say it.
    `request` is the decoded request, or None when it did not parse: then only top-level codes are
    set. Empty when the version is unknown."""
    entity_type = response_type(api_key, version)
    return {} if entity_type is None else _mirror(entity_type, request, error)


def _mirror(entity_type: type, source: Any, error: KafkaError) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for shape in shapes(entity_type):
        if shape.name == "error_code":
            values["error_code"] = int(error.code)
        elif shape.name == "error_message":
            values["error_message"] = error.message
        elif shape.is_array and shape.entity is not None:
            items = _request_items(source, shape)
            values[shape.name] = [_item(shape.entity, item, error) for item in items]
        else:
            value = _same_field(source, shape)
            if value is not None:
                values[shape.name] = value
    return values


def _item(entity_type: type, source: Any, error: KafkaError) -> dict[str, Any]:
    values = _mirror(entity_type, source, error)
    if isinstance(source, (str, int)):  # an array of names or indexes: the item is its own key
        wanted = "string" if isinstance(source, str) else "int32"
        for shape in shapes(entity_type):
            if shape.kafka_type == wanted and shape.name != "error_message" and not shape.is_array:
                values[shape.name] = source
                break
    return values


def _request_items(source: Any, shape: FieldShape) -> tuple[Any, ...]:
    """The request's array that this response array answers: that of the same name, else its only
    one."""
    if source is None or isinstance(source, (str, int)) or shape.name == "brokers":
        return ()  # nobody asks for brokers: they would be made of the topics asked for
    named = getattr(source, shape.name, None)
    if isinstance(named, tuple):
        return named
    if not hasattr(source, "__dataclass_fields__"):
        return ()
    source_type: Any = type(source)
    for each in shapes(source_type):
        value = getattr(source, each.name)
        if each.is_array and value:
            return tuple(value)
    return ()


def _same_field(source: Any, shape: FieldShape) -> Any:
    if source is None or shape.is_array or shape.kafka_type in ("records", "bytes"):
        return None
    for name in (shape.name, *_ALIASES.get(shape.name, ())):
        value = getattr(source, name, None)
        if isinstance(value, (str, int)) or (value is not None and shape.kafka_type == "uuid"):
            return value
    return None
