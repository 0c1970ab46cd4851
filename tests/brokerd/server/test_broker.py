"""How a broker takes up what the cluster tells."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from brokerd.cluster.image import ImageDelta, TopicInfo
from brokerd.config import parse
from brokerd.log.log_config import LogConfig
from brokerd.replication.state import PartitionState
from brokerd.server.broker import Broker
from brokerd.server.cleaner_workers import CleanerWorkers
from brokerd.server.live_settings import LiveSettings

ID = UUID(int=7)


class Replicas:
    """Keeps what it is told instead of making logs."""

    def __init__(self) -> None:
        self.made: dict[str, LogConfig] = {}
        self.reconfigured: dict[str, LogConfig] = {}
        self.offline: dict[tuple[str, int], str] = {}

    def apply_states(
        self, states: list[PartitionState], _: object, configs: dict[str, LogConfig]
    ) -> None:
        self.made |= {state.topic: configs[state.topic] for state in states}

    def reconfigure(self, topic: str, config: LogConfig) -> None:
        self.reconfigured[topic] = config


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
    one.cluster = SimpleNamespace(image=image, tell_offline=lambda _: None)
    return one


def _state(topic: str) -> PartitionState:
    return PartitionState(
        topic=topic, partition=0, topic_id=ID, replicas=(1,), leader=1, leader_epoch=0, isr=(1,),
        controller_epoch=1, version=0,
    )  # fmt: skip


async def test_a_config_that_makes_no_sense_keeps_no_other_topic_from_being_taken_up(
    broker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bad = {"retention.ms": "1 week", "cleanup.policy": "compact"}
    broker.cluster.image.topics = {
        "bad": TopicInfo(name="bad", topic_id=ID, config=bad),
        "good": TopicInfo(name="good", topic_id=ID, config={"retention.ms": "5"}),
    }
    states = [_state("bad"), _state("good")]
    await broker._on_change(ImageDelta(partitions=states, topics_configs={"bad", "good"}))
    made = broker.replicas.made
    assert made["good"].retention_ms == 5
    assert made["bad"].retention_ms == 9
    assert made["bad"].is_compacted, "or records that are to be kept would be deleted by age"
    await broker._on_change(ImageDelta(topics_configs={"bad", "good"}))
    assert set(broker.replicas.reconfigured) == {"good"}, "the other keeps what it has"
    (said,) = caplog.messages
    assert "topic bad" in said
    assert "retention.ms: '1 week' is not a number" in said


async def test_it_is_said_again_when_it_was_mended_in_between(
    broker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    topics = broker.cluster.image.topics
    for text in ("soon", "soon", "7", "soon"):
        topics["t"] = TopicInfo(name="t", topic_id=ID, config={"retention.ms": text})
        await broker._on_change(ImageDelta(topics_configs={"t"}))
    assert broker.replicas.reconfigured["t"].retention_ms == 7
    assert len(caplog.messages) == 2
