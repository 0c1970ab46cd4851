import errno
import socket

from monitoring.tcp_ports import bind_error


def test_a_port_is_in_use_while_a_server_listens() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        error = bind_error(port)
        assert error is not None
        assert error.errno == errno.EADDRINUSE
        with socket.create_connection(("127.0.0.1", port)):
            server.accept()[0].close()  # leaves the port waiting for the last packet
    assert bind_error(port) is None
