"""The hot reads for a plain thread: one question, one short-lived connection.

Sampling keeps its own reader (monitoring/sampling/sampler.py); pages read the samples. This is
for the few questions that must not be answered from a sample: does this address answer, what
does the cluster say right now.
"""

from collections.abc import Sequence

from monitoring.clock import now_ms
from monitoring.gateway import loop
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.wire.metadata import (
    REQUEST_BODY,
    TOPIC_LENGTH_MAX,
    Metadata,
    body_of_topic,
)
from monitoring.gateway.wire.reader import ClusterReader

_TIMEOUT_S = 5.0


class Wire:
    """Reads one cluster by its bootstrap addresses."""

    def __init__(self, bootstrap: Sequence[tuple[str, int]]) -> None:
        self._bootstrap = bootstrap

    def metadata(self) -> Metadata:
        """Brokers, topics, leaders, replicas. Raises GatewayError within 5 seconds."""
        return self._ask(REQUEST_BODY)

    def has_topic(self, name: str) -> bool:
        """Whether the cluster has this topic now. Raises GatewayError within 5 seconds."""
        if len(name.encode()) > TOPIC_LENGTH_MAX:
            return False
        # One that is not there comes back with an error and no partitions.
        return bool(self._ask(body_of_topic(name)).spans.get(name))

    def _ask(self, body: bytes) -> Metadata:
        try:
            return loop.run(self._read(body), _TIMEOUT_S)
        except TimeoutError as error:
            raise ClusterUnavailable("no broker answered within 5 seconds") from error

    async def _read(self, body: bytes) -> Metadata:
        reader = ClusterReader(self._bootstrap, None, now_ms)
        try:
            return await reader.read_metadata(_TIMEOUT_S / 2, body)
        finally:
            await reader.close()
