"""Keeps the TLS contexts of a broker's listeners, and loads them again when its listeners change
(Kafka's SslFactory). `ssl_engine_factory` makes them.
"""

import asyncio
import logging
import ssl
from collections.abc import Mapping

from brokerd.config.ssl_configs import SslConfigs
from brokerd.security.ssl_engine_factory import TlsError, server_context

logger = logging.getLogger(__name__)


class SslFactory:
    """`current` has those for connections from now on, by the name of the listener."""

    def __init__(self) -> None:
        self.current: dict[str, ssl.SSLContext] = {}

    async def load(self, tls: Mapping[str, SslConfigs]) -> dict[str, ssl.SSLContext]:
        """The contexts of these listeners, to become `current`. A listener whose store cannot be
        opened any more keeps its context. Raises TlsError if it has none. Reads files, in a
        thread."""
        return await asyncio.to_thread(_load, tls, self.current)

    async def check(self, settings: SslConfigs) -> None:
        """Checks that the stores of a listener can be opened. Raises TlsError."""
        await asyncio.to_thread(server_context, settings)


def _load(
    tls: Mapping[str, SslConfigs], current: Mapping[str, ssl.SSLContext]
) -> dict[str, ssl.SSLContext]:
    contexts = {}
    for name, settings in tls.items():
        try:
            contexts[name] = server_context(settings)
        except TlsError as error:
            if name not in current:
                error.listener = name
                raise
            contexts[name] = current[name]
            logger.error("%s keeps the key and the trust store that it has: %s", name, error)
    return contexts
