"""The metrics of kafka.network:type=SocketServer and kafka.server:type=socket-server-metrics:
memory of frames, connections, bytes; how idle the event loop is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from brokerd.integer_ranges import INT64_MAX
from brokerd.metric_counters import BrokerMetrics
from brokerd.server.admin_http.metrics.prometheus_text import Row, family, singles
from brokerd.server.network.socket_server import SocketServer

RUNNING: Final = 3
STARTING: Final = 1


def socket_server_lines(
    metrics: BrokerMetrics, socket_server: SocketServer, *, is_ready: bool
) -> Iterator[str]:
    loop, buffers = metrics.loop, socket_server.buffers
    idle, used = round(loop.idle_share(), 4), buffers.held_bytes
    free = buffers.limit_bytes - used if buffers.limit_bytes >= 0 else INT64_MAX
    text = "Share of the last 30 s that the loop waited for something to do, 0 to 1."
    yield from singles(
        "kafka_network_socketserver_",
        ("networkprocessoravgidle_percent", text, idle),
        ("memorypoolused", "Bytes of frames not whole.", used),
        ("memorypoolavailable", "queued.max.request.bytes less that.", free),
    )
    name, text = "requesthandleravgidle_percent", f"{text} One loop does both."
    yield from singles("kafka_server_kafkarequesthandlerpool_", (name, text, idle))
    name, idle_s = "loop_idle_seconds_total", round(loop.idle_s, 3)
    yield from singles("brokerd_", (name, "Time that the loop waited.", idle_s))
    state, text = RUNNING if is_ready else STARTING, "1 starting or ending, 3 running."
    yield from singles("kafka_server_kafkaserver_", ("brokerstate", text, state))


def connection_lines(
    metrics: BrokerMetrics, socket_server: SocketServer, names: Sequence[str]
) -> Iterator[str]:
    """`names` are those of the listeners."""
    acceptor = socket_server.acceptor
    prefix = "kafka_server_socket_server_metrics_"
    figures: tuple[tuple[str, str, str, Callable[[str], int]], ...] = (
        ("connection_count", "gauge", "Open connections.",
         lambda name: socket_server.opened[name] - socket_server.ended[name]),
        ("connection_creation_total", "counter", "Connections taken.",
         lambda name: socket_server.opened[name]),
        ("connection_close_total", "counter", "Connections that ended.",
         lambda name: socket_server.ended[name]),
    )  # fmt: skip
    for name, kind, text, value in figures:
        rows: list[Row] = [({"listener": each}, value(each)) for each in names]
        yield from family(prefix + name, kind, text, rows)
    yield from singles(
        prefix,
        ("request_total", "Requests received.", metrics.requests),
        ("incoming_byte_total", "Bytes received.", metrics.received_bytes),
        ("outgoing_byte_total", "Bytes sent.", socket_server.sent_bytes),
    )
    yield from singles(
        "brokerd_connections",
        ("", "Open connections of all listeners.", len(socket_server.connections)),
        ("_refused_total", "Refused by max.connections.per.ip.", acceptor.refused),
    )
