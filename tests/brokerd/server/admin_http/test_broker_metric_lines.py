"""Figures of the broker as a whole that depend on its settings."""

from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.metric_counters import BrokerMetrics
from brokerd.server.admin_http.broker_metric_lines import BrokerMetricLines
from brokerd.server.network.receive_buffers import ReceiveBuffers


@pytest.mark.parametrize(
    ("limit_bytes", "available"), [(1000, 900), (50, -50), (-1, 2**63 - 1)]
)  # fmt: skip
def test_memory_for_frames_is_what_the_limit_leaves_and_endless_without_one(
    limit_bytes: int, available: int
) -> None:
    buffers = ReceiveBuffers(limit_bytes, lambda: None)
    buffers.lend(100)
    parts: Any = SimpleNamespace(
        metrics=BrokerMetrics(),
        socket_server=SimpleNamespace(buffers=buffers),
        is_ready=lambda: True,
    )
    lines = "".join(BrokerMetricLines._socket_server(parts)).splitlines()
    assert "kafka_network_socketserver_memorypoolused 100" in lines
    assert f"kafka_network_socketserver_memorypoolavailable {available}" in lines
