"""The metrics of kafka.server:type=FetchSessionCache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokerd.server.admin_http.metrics.prometheus_text import singles

if TYPE_CHECKING:
    from brokerd.server.fetch.fetch_session_cache import FetchSessionCache


def fetch_session_cache_lines(sessions: FetchSessionCache) -> Iterator[str]:
    yield from singles(
        "kafka_server_fetchsessioncache_",
        ("numincrementalfetchsessions", "Fetch sessions.", len(sessions)),
        ("numincrementalfetchpartitionscached", "Partitions in them.",
         sessions.partition_count),
    )  # fmt: skip
