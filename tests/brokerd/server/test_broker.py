"""How a broker takes up what the cluster tells."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from brokerd import turns
from brokerd.cluster.metadata_image import ImageDelta, TopicInfo
from brokerd.config.broker import parse
from brokerd.config.log_config import LogConfig
from brokerd.replication.state import PartitionState
from brokerd.server.background.cleaner_workers import CleanerWorkers
from brokerd.server.broker import Broker
from brokerd.server.live_settings import LiveSettings

ID = UUID(int=7)


class Replicas:
    """Keeps what it is told instead of making logs. A topic's name stands for its partition."""

    def __init__(self) -> None:
        self.settings: dict[str, LogConfig] = {}
        self.offline: dict[tuple[str, int], str] = {}
        self.asked: list[str] = []

    def get(self, topic: str, _: int) -> str | None:
        self.asked.append(topic)
        return topic if topic in self.settings else None

    def apply_states(
        self, states: list[PartitionState], _: object, configs: dict[str, LogConfig]
    ) -> None:
        for state in states:
            self.settings.setdefault(state.topic, configs[state.topic])

    def reconfigure(self, topic: str, config: LogConfig) -> None:
        self.settings[topic] = config


@pytest.fixture
async def broker(tmp_path: Path) -> Any:
    """A broker that was not started, with the log.retention.ms 9."""
    file = f"broker.id=1\nlog.dirs={tmp_path}\nzookeeper.connect=z\nlog.retention.ms=9\n"
    one: Any = Broker(parse(file), {}, on_fatal=lambda _: None)
    one.settings = LiveSettings(one, one.config, CleanerWorkers(1))
    one.replicas = Replicas()
    one.metadata = SimpleNamespace(changed=lambda _: None)
    one.groups = SimpleNamespace(on_delta=lambda _: None)
    image = SimpleNamespace(topics={})
    one.cluster = SimpleNamespace(image=image, report_offline=lambda _: None)
    return one


def _state(topic: str) -> PartitionState:
    return PartitionState(
        topic=topic, partition=0, topic_id=ID, replicas=(1,), leader=1, leader_epoch=0, isr=(1,),
        controller_epoch=1, version=0,
    )  # fmt: skip


def _topic(name: str, config: dict[str, str]) -> TopicInfo:
    return TopicInfo(name=name, topic_id=ID, partitions={0: _state(name)}, config=config)


async def test_a_config_that_makes_no_sense_keeps_no_other_topic_from_being_taken_up(
    broker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    topics = broker.cluster.image.topics
    topics["bad"] = _topic("bad", {"retention.ms": "1 week", "cleanup.policy": "compact"})
    topics["good"] = _topic("good", {"retention.ms": "5"})
    states = [_state("bad"), _state("good")]
    await broker._on_change(ImageDelta(partitions=states, topics_configs={"bad", "good"}))
    settings = broker.replicas.settings
    assert settings["good"].retention_ms == 5
    assert settings["bad"].retention_ms == 9
    assert settings["bad"].is_compacted, "or records that are to be kept would be deleted by age"
    topics["bad"] = _topic("bad", {"retention.ms": "1 week"})
    topics["good"] = _topic("good", {"retention.ms": "6"})
    await broker._on_change(ImageDelta(topics_configs={"bad", "good"}))
    assert settings["bad"].is_compacted, "it keeps what it has"
    assert settings["good"].retention_ms == 6
    (said,) = caplog.messages
    assert "topic bad" in said
    assert "retention.ms: '1 week' is not a number" in said


async def test_it_is_said_again_when_it_was_mended_in_between(
    broker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    topics = broker.cluster.image.topics
    topics["t"] = _topic("t", {})
    await broker._on_change(ImageDelta(partitions=[_state("t")], topics_configs={"t"}))
    for text in ("soon", "soon", "7", "soon"):
        topics["t"] = _topic("t", {"retention.ms": text})
        await broker._on_change(ImageDelta(topics_configs={"t"}))
    assert broker.replicas.settings["t"].retention_ms == 7
    assert len(caplog.messages) == 2


async def test_a_config_that_changed_together_with_a_state_holds(broker: Any) -> None:
    topics = broker.cluster.image.topics
    for text in ("5", "6"):
        topics["t"] = _topic("t", {"retention.ms": text})
        await broker._on_change(ImageDelta(partitions=[_state("t")], topics_configs={"t"}))
    assert broker.replicas.settings["t"].retention_ms == 6


async def test_partitions_that_take_up_another_config_leave_others_their_turn(
    broker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = broker.cluster.image.topics
    names = {f"t{number}" for number in range(5)}
    for name in names | {"other"}:
        topics[name] = _topic(name, {"retention.ms": "5"})
    states = [_state(name) for name in topics]
    await broker._on_change(ImageDelta(partitions=states))
    monkeypatch.setattr(turns, "TURN_S", -1)
    for name in names:
        topics[name] = _topic(name, {"retention.ms": "6"})
    broker.replicas.asked.clear()
    changing = asyncio.ensure_future(broker._on_change(ImageDelta(topics_configs=names)))
    seen = set()
    while not changing.done():
        await asyncio.sleep(0)
        settings = broker.replicas.settings
        seen.add(sum(settings[name].retention_ms == 6 for name in names))
    assert seen >= {1, 2, 3, 4, 5}
    assert "other" not in broker.replicas.asked


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
    broker.config = parse("broker.id=1\nlog.dirs=/d\nzookeeper.connect=z\n", often)
    shorter = {"tick_retention": 100, "tick_checkpoints": 200, "tick_flush": 300}
    assert shorter.items() <= intervals_ms().items()
