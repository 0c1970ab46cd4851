"""The admin ports of embedded brokers, and whether a local port is free."""

import socket

ADMIN_PORT_ABOVE = 100
"""The admin port of an embedded broker is its Kafka port plus this."""


def bind_error(port: int) -> OSError | None:
    """The error of listening on this port of 127.0.0.1; None = the port is free."""
    with socket.socket() as probe:
        # As servers do: closed connections in TIME_WAIT do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error
    return None
