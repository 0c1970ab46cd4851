"""The logs of a broker without a broker, for tests."""

from pathlib import Path
from typing import Any

from brokerd.config.log_config import LogConfig
from brokerd.log.log_manager import LogManager
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager

CONFIG = LogConfig(segment_bytes=2000)


def start(*directories: Path, **settings: Any) -> LogManager:
    return open_manager([str(d) for d in directories], 1, now_ms=NOW_MS, **settings)


def crash(manager: LogManager) -> None:
    """What is left of a killed process: its lock is gone, nothing was written or marked."""
    manager.dirs.unlock()


def fill(manager: LogManager, topic: str = "t", count: int = 20) -> None:
    log = manager.create(topic, 0, TOPIC_ID, CONFIG, NOW_MS)
    for i in range(count):
        log.append([batch(size=300, timestamp_ms=NOW_MS + i)], 0, NOW_MS)
