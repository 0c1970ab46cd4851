"""The hot reads for a plain thread: one question, one short-lived connection.

Sampling keeps its own reader (monitoring/sampling/sampler.py); pages read the samples. This is
for the few questions that must not be answered from a sample: does this address answer, what
does the cluster say right now.
"""

from collections.abc import Sequence

from monitoring.clock import now_ms
from monitoring.gateway import loop
from monitoring.gateway.admin_urls import AdminUrls
from monitoring.gateway.counters import CounterSource
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.wire.metadata import Metadata
from monitoring.gateway.wire.reader import ClusterReader

_TIMEOUT_S = 5.0


class Wire:
    """Reads one cluster by its bootstrap addresses."""

    def __init__(self, bootstrap: Sequence[tuple[str, int]]) -> None:
        self._bootstrap = bootstrap

    def metadata(self) -> Metadata:
        """Brokers, topics, leaders, replicas. Raises GatewayError within 5 seconds."""
        try:
            return loop.run(self._read(), _TIMEOUT_S)
        except TimeoutError as error:
            raise ClusterUnavailable("no broker answered within 5 seconds") from error

    async def _read(self) -> Metadata:
        counters = CounterSource(AdminUrls({}, ""))
        reader = ClusterReader(self._bootstrap, counters, now_ms)
        try:
            return await reader.read_metadata(_TIMEOUT_S / 2)
        finally:
            reader.close()
            await counters.close()
