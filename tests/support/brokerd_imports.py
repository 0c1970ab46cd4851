"""Imports the broker, all its tools and the schemas of their messages: for who forks then."""

from contextlib import suppress
from importlib import import_module

import brokerd.cli.start  # noqa: F401
from brokerd.cli.main import TOOLS
from brokerd.errors import KafkaError
from brokerd.protocol.api_keys import ADVERTISED
from brokerd.protocol.messages import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)

for _module, _ in TOOLS.values():
    import_module(f"brokerd.cli.{_module}")
for _key, (_, _latest) in ADVERTISED.items():
    with suppress(KafkaError, TypeError, ValueError, KeyError):
        encode_request(_key, _latest, {}, 0, "")
    with suppress(KafkaError, TypeError, ValueError, KeyError):
        encode_response(_key, _latest, {})
    for _decode in (decode_request, decode_response):
        with suppress(KafkaError):
            _decode(_key, _latest, b"")
