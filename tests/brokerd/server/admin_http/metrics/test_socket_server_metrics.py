"""Figures of the broker as a whole that depend on its settings."""

from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.metric_counters import BrokerMetrics
from brokerd.server.admin_http.metrics.socket_server_metrics import socket_server_lines
from brokerd.server.network.receive_buffers import ReceiveBuffers


@pytest.mark.parametrize(
    ("limit_bytes", "available"), [(1000, 900), (50, -50), (-1, 2**63 - 1)]
)  # fmt: skip
def test_memory_for_frames_is_what_the_limit_leaves_and_endless_without_one(
    limit_bytes: int, available: int
) -> None:
    buffers = ReceiveBuffers(limit_bytes, lambda: None)
    buffers.lend(100)
    socket_server: Any = SimpleNamespace(buffers=buffers)
    lines = "".join(socket_server_lines(BrokerMetrics(), socket_server, is_ready=True)).splitlines()
    assert "kafka_network_socketserver_memorypoolused 100" in lines
    assert f"kafka_network_socketserver_memorypoolavailable {available}" in lines
