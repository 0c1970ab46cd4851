"""What a broker does by the clock, and which of its parts keep a copy of settings."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.config.broker_config import parse
from brokerd.server.broker import Broker


@pytest.fixture
async def broker(tmp_path: Path) -> Any:
    """One that was not started."""
    return Broker(
        parse(f"broker.id=1\nlog.dirs={tmp_path}\nzookeeper.connect=z\n"), on_fatal=lambda _: None
    )


async def test_every_part_that_keeps_a_setting_is_told(
    broker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_all(config: Any) -> Any:
        return config

    monkeypatch.setattr(broker.socket_server, "open", open_all)
    broker.producer_expiry = SimpleNamespace(expiration_ms=0)
    broker.cleaner = SimpleNamespace(backoff_ms=0, limits=None)
    own = {"log.cleaner.threads": "2", "log.cleaner.dedupe.buffer.size": "8000000",
           "log.cleaner.backoff.ms": "7", "producer.id.expiration.ms": "9"}  # fmt: skip
    settings, workers = broker.settings, broker._cleaner_workers
    changes = {"1": own, "<default>": {"max.connections": "5"}, "2": {"x": "y"}}
    assert await settings.take_over(changes)
    assert (workers.free, broker.cleaner.backoff_ms) == (2, 7)
    assert broker.cleaner.limits.map_bytes == 4_000_000
    assert broker.producer_expiry.expiration_ms == 9
    assert broker.socket_server._config is settings.config
    assert (settings.config.max_connections, settings.config.log_cleaner_threads) == (5, 2)
    assert await settings.take_over({})
    assert (workers.free, settings.config.max_connections) == (1, 2**31 - 1)


async def test_what_is_done_by_the_clock_follows_intervals_that_are_shorter_than_a_second(
    broker: Any,
) -> None:
    names = ("tick_retention", "tick_checkpoints", "tick_delete", "tick_flush")
    broker.logs = SimpleNamespace(tasks=SimpleNamespace(**{name: name for name in names}))
    broker.cleaner = broker.producer_expiry = broker.replicas = SimpleNamespace(tick="tick")

    def intervals_ms() -> dict[str, int]:
        return {task: ms for task, ms in broker._scheduled_tasks() if task in names}

    seldom = {"tick_retention": 300_000, "tick_checkpoints": 60_000, "tick_flush": 1_000}
    assert seldom.items() <= intervals_ms().items()
    often = {
        "log.retention.check.interval.ms": "100",
        "log.flush.offset.checkpoint.interval.ms": "200",
        "log.flush.scheduler.interval.ms": "300",
    }
    broker.settings.config = parse("broker.id=1\nlog.dirs=/d\nzookeeper.connect=z\n", often)
    shorter = {"tick_retention": 100, "tick_checkpoints": 200, "tick_flush": 300}
    assert shorter.items() <= intervals_ms().items()
