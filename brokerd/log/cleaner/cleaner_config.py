"""The limits of compaction workers, from the settings `log.cleaner.…` (Kafka's CleanerConfig)."""

import logging
from typing import Final

from brokerd.config.broker_config import BrokerConfig
from brokerd.integer_ranges import INT32_MAX
from brokerd.log.cleaner.worker_messages import Limits

logger = logging.getLogger(__name__)

IO_BUFFER_BYTES_MIN: Final = 64 << 10
"""What a worker reads at once at least: in less there may be no whole header of a batch."""


def cleaner_limits(config: BrokerConfig) -> Limits:
    """The limits of one compaction worker: its share of those of all, and as in Kafka at most 2 GiB
    for its map of keys, which is allocated at once."""
    share = config.log_cleaner_threads
    map_bytes = config.log_cleaner_dedupe_buffer_size // share
    if map_bytes > INT32_MAX:
        logger.warning(
            "log.cleaner.dedupe.buffer.size: no compacting worker uses more than 2 GiB, the rest of"
            " %d bytes for each of %d is without effect", map_bytes, share,
        )  # fmt: skip
    return Limits(
        map_bytes=min(map_bytes, INT32_MAX),
        load_factor=config.log_cleaner_io_buffer_load_factor,
        io_buffer_bytes=max(config.log_cleaner_io_buffer_size // share, IO_BUFFER_BYTES_MIN),
        bytes_per_second=config.log_cleaner_io_max_bytes_per_second / share,
    )
