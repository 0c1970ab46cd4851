"""Metadata responses put together from topics that were encoded before.

Encoding 40,000 partitions takes 0.1 s, and every client asks on each change; a topic's bytes
depend on the version alone, so they are made once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item, encode_response


def encode_topic(version: int, fields: Mapping[str, Any]) -> bytes:
    """One topic with its partitions, as it stands in the response's array of topics."""
    return encode_item(ApiKey.METADATA, version, ("topics",), fields)


def encode_metadata(version: int, fields: Mapping[str, Any], topics: Sequence[bytes]) -> bytes:
    """The response's body; `fields` are all but the topics, which come encoded."""
    return encode_response(ApiKey.METADATA, version, {**fields, "topics": topics})
