"""Loads the TLS contexts of listeners from their key and trust stores, at the start and again when
settings change or a store is replaced."""

import logging
import ssl
from collections.abc import Mapping

from brokerd.config.tls_settings import TlsSettings
from brokerd.security.ssl_contexts import TlsError, server_context

logger = logging.getLogger(__name__)


def load(
    tls: Mapping[str, TlsSettings], current: Mapping[str, ssl.SSLContext]
) -> dict[str, ssl.SSLContext]:
    """The contexts of the listeners with TLS, by name. Reads files. A listener whose store cannot
    be opened any more keeps its `current` context. Raises TlsError if it has none."""
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
