"""Whether a port of this machine can be listened on."""

import socket


def bind_error(port: int) -> OSError | None:
    """Why nothing can listen on this port of 127.0.0.1 now; None = it is free."""
    with socket.socket() as probe:
        # As servers do: what is left of connections that were closed is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error
    return None
