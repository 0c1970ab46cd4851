"""How the parts of a broker take up what the cluster tells."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from brokerd import event_loop_turns
from brokerd.cluster.metadata_image import ImageDelta, MetadataImage, TopicInfo
from brokerd.cluster.zookeeper.zk_data import Endpoint
from brokerd.config.broker_config import BrokerConfig, parse
from brokerd.config.log_config import LogConfig
from brokerd.replication.partition_state import PartitionState
from brokerd.server.admin_http.event_ring import EventRing
from brokerd.server.api.metadata_topic_cache import MetadataTopicCache
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.metadata_publisher import MetadataPublisher
from brokerd.server.topic_config_handler import TopicConfigHandler

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

    def all(self) -> list[Any]:
        return [SimpleNamespace(topic=topic) for topic in self.settings]


class Bench:
    """A publisher without logs, with the log.retention.ms 9."""

    def __init__(self) -> None:
        config = parse("broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nlog.retention.ms=9\n")
        socket_server: Any = SimpleNamespace(open=self._open)
        self.image = MetadataImage()
        self.advertised: list[tuple[Endpoint, ...]] = []
        cluster: Any = SimpleNamespace(
            image=self.image, report_offline=lambda _: None,
            registration=SimpleNamespace(advertise=self.advertised.append),
        )  # fmt: skip
        groups: Any = SimpleNamespace(on_delta=lambda _: None)
        self.replicas: Any = Replicas()
        settings = BrokerConfigHandler(config, socket_server, lambda _: None)
        self._publisher = MetadataPublisher(
            cluster, settings, TopicConfigHandler(settings), self.replicas, groups,
            MetadataTopicCache(self.image), EventRing(lambda: 0), is_ready=lambda: False,
        )  # fmt: skip

    @staticmethod
    async def _open(config: BrokerConfig) -> BrokerConfig:
        return config

    async def publish(self, **delta: Any) -> None:
        await self._publisher.publish(ImageDelta(**delta))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def _state(topic: str) -> PartitionState:
    return PartitionState(
        topic=topic, partition=0, topic_id=ID, replicas=(1,), leader=1, leader_epoch=0, isr=(1,),
        controller_epoch=1, version=0,
    )  # fmt: skip


def _topic(name: str, config: dict[str, str]) -> TopicInfo:
    return TopicInfo(name=name, topic_id=ID, partitions={0: _state(name)}, config=config)


async def test_a_config_that_makes_no_sense_keeps_no_other_topic_from_being_taken_up(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    topics = bench.image.topics
    topics["bad"] = _topic("bad", {"retention.ms": "1 week", "cleanup.policy": "compact"})
    topics["good"] = _topic("good", {"retention.ms": "5"})
    states = [_state("bad"), _state("good")]
    await bench.publish(partitions=states, topics_configs={"bad", "good"})
    settings = bench.replicas.settings
    assert settings["good"].retention_ms == 5
    assert settings["bad"].retention_ms == 9
    assert settings["bad"].is_compacted, "or records that are to be kept would be deleted by age"
    topics["bad"] = _topic("bad", {"retention.ms": "1 week"})
    topics["good"] = _topic("good", {"retention.ms": "6"})
    await bench.publish(topics_configs={"bad", "good"})
    assert settings["bad"].is_compacted, "it keeps what it has"
    assert settings["good"].retention_ms == 6
    (said,) = caplog.messages
    assert "topic bad" in said
    assert "retention.ms: '1 week' is not a whole number" in said


async def test_it_is_said_again_when_it_was_mended_in_between(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    topics = bench.image.topics
    topics["t"] = _topic("t", {})
    await bench.publish(partitions=[_state("t")], topics_configs={"t"})
    for text in ("soon", "soon", "7", "soon"):
        topics["t"] = _topic("t", {"retention.ms": text})
        await bench.publish(topics_configs={"t"})
    assert bench.replicas.settings["t"].retention_ms == 7
    assert len(caplog.messages) == 2


async def test_settings_of_brokers_that_change_reach_the_logs_here_and_the_registration(
    bench: Bench,
) -> None:
    topics = bench.image.topics
    for name in ("own", "plain", "elsewhere"):
        topics[name] = _topic(name, {"retention.ms": "5"} if name == "own" else {})
    await bench.publish(partitions=[_state("own"), _state("plain")])
    changed = {"<default>": {"log.retention.ms": "7"}}
    bench.image.replace_broker_configs(changed)
    await bench.publish(broker_configs=True)
    settings = bench.replicas.settings
    assert {name: each.retention_ms for name, each in settings.items()} == {"own": 5, "plain": 7}
    assert [each.port for (each,) in bench.advertised] == [9092]


async def test_a_config_that_changed_together_with_a_state_holds(bench: Bench) -> None:
    topics = bench.image.topics
    for text in ("5", "6"):
        topics["t"] = _topic("t", {"retention.ms": text})
        await bench.publish(partitions=[_state("t")], topics_configs={"t"})
    assert bench.replicas.settings["t"].retention_ms == 6


async def test_partitions_that_take_up_another_config_leave_others_their_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = bench.image.topics
    names = {f"t{number}" for number in range(5)}
    for name in names | {"other"}:
        topics[name] = _topic(name, {"retention.ms": "5"})
    states = [_state(name) for name in topics]
    await bench.publish(partitions=states)
    monkeypatch.setattr(event_loop_turns, "TURN_S", -1)
    for name in names:
        topics[name] = _topic(name, {"retention.ms": "6"})
    bench.replicas.asked.clear()
    changing = asyncio.ensure_future(bench.publish(topics_configs=names))
    seen = set()
    while not changing.done():
        await asyncio.sleep(0)
        settings = bench.replicas.settings
        seen.add(sum(settings[name].retention_ms == 6 for name in names))
    assert seen >= {1, 2, 3, 4, 5}
    assert "other" not in bench.replicas.asked
