"""Metadata responses put together from topics that were encoded before.

Encoding 40,000 partitions takes 0.1 s, and every client asks on each change; a topic's bytes
depend on the version alone, so they are made once and a response is a head, cached topics, a tail.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_response, response_type
from brokerd.protocol.schema_writer import Writer, entity_writer, shapes, write_uvarint
from brokerd.protocol.versions import is_flexible


@cache
def _topic_writer(version: int) -> Writer:
    entity_type: Any = response_type(ApiKey.METADATA, version)
    topics = next(shape for shape in shapes(entity_type) if shape.name == "topics")
    return entity_writer(topics.entity)


def encode_topic(version: int, fields: Mapping[str, Any]) -> bytes:
    """One topic with its partitions, as it stands in the response's array of topics."""
    out = bytearray()
    _topic_writer(version)(out, fields)
    return bytes(out)


def encode_metadata(version: int, fields: Mapping[str, Any], topics: Sequence[bytes]) -> bytes:
    """The response's body; `fields` are all but the topics, which come encoded."""
    frame = encode_response(ApiKey.METADATA, version, {**fields, "topics": ()})
    flexible = is_flexible(ApiKey.METADATA, version)
    tail_size = (4 if 8 <= version <= 10 else 0) + (1 if flexible else 0)
    head_end = len(frame) - tail_size - (1 if flexible else 4)
    count = bytearray()
    if flexible:
        write_uvarint(count, len(topics) + 1)
    else:
        count += len(topics).to_bytes(4, "big")
    return b"".join((frame[:head_end], count, *topics, frame[len(frame) - tail_size :]))
