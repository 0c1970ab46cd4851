"""CreateTopics, DeleteTopics and CreatePartitions over the wire, on the controller and beside
it."""

import asyncio
import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from brokerd.cluster.admin.new_topic_plan import TopicPlan
from brokerd.cluster.metadata_image import MetadataImage
from brokerd.cluster.zookeeper.zk_data import TopicNode
from brokerd.config.broker_config import parse
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api import topics
from tests.support.brokerd import BrokerdCluster


def _name() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


def _controller(admin: AdminClient) -> int:
    """Its index in the list of brokers."""
    return admin.describe_cluster().result(timeout=10).controller.id - 1


def _topic(name: str, **changes) -> dict:
    plain = {
        "name": name,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [],
        "configs": [],
    }
    return plain | changes


def _create(ask, broker: int, *topics: dict, version: int = 7, **fields):
    request = {"topics": list(topics), "timeout": 10_000, **fields}
    return {t.name: t for t in ask(ApiKey.CREATE_TOPICS, version, request, broker=broker).topics}


def test_a_topic_is_created_with_defaults_and_told_with_its_settings(admin, ask) -> None:
    name = _name()
    configs = [{"name": "retention.ms", "value": "5000"}]
    created = _create(ask, _controller(admin), _topic(name, configs=configs))[name]
    assert created.error_code == 0
    assert (created.num_partitions, created.replication_factor) == (3, 1)
    settings = {config.name: (config.value, config.config_source) for config in created.configs}
    assert settings["retention.ms"] == ("5000", 1)
    assert settings["segment.bytes"] == ("1073741824", 5)
    metadata = admin.list_topics(name, timeout=10).topics[name]
    assert sorted({p.leader for p in metadata.partitions.values()}) == [1, 2]


def test_beside_the_controller_clients_are_told_to_go_there(admin, ask) -> None:
    name = _name()
    beside = 1 - _controller(admin)
    assert _create(ask, beside, _topic(name))[name].error_code == ErrorCode.NOT_CONTROLLER
    twice = _topic(name, configs=[{"name": "retention.ms", "value": None}])
    assert _create(ask, beside, twice, twice)[name].error_code == ErrorCode.NOT_CONTROLLER
    ways = ((name, None), (None, uuid.uuid4()), (None, None), (name, uuid.uuid4()))
    rows = [{"name": each, "topic_id": topic_id} for each, topic_id in ways]
    deletion = {"topics": rows, "timeout": 1_000}
    answers = ask(ApiKey.DELETE_TOPICS, 6, deletion, broker=beside).responses
    assert [(each.name, each.topic_id) for each in answers] == list(ways)
    assert {each.error_code for each in answers} == {ErrorCode.NOT_CONTROLLER}
    growth = {"topics": [{"name": name, "count": 2, "assignments": None}] * 2, "timeout": 1_000}
    (answer,) = ask(ApiKey.CREATE_PARTITIONS, 3, growth, broker=beside).results
    assert answer.error_code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
async def test_that_topics_cannot_be_deleted_is_told_as_the_client_knows_it(
    version: int, code: ErrorCode
) -> None:
    def check_deletion() -> None:
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED)

    cluster: Any = SimpleNamespace(
        topics=SimpleNamespace(check_deletion=check_deletion), image=MetadataImage()
    )
    nothing: Any = None
    context: Any = SimpleNamespace(api_version=version)
    request = SimpleNamespace(topic_names=["a", "a"], timeout=timedelta(0))
    fields = await topics.TopicHandlers(cluster, nothing).delete_topics(context, request)
    body = bytes(4) + encode_response(ApiKey.DELETE_TOPICS, version, fields)
    told = decode_response(ApiKey.DELETE_TOPICS, version, body).responses
    assert [(each.name, each.error_code) for each in told] == [("a", code)] * 2


def test_every_refusal_is_told_for_its_topic_alone(admin, ask) -> None:
    good, twice = _name(), _name()
    one = [{"partition_index": 0, "broker_ids": [1]}]
    answers = _create(
        ask,
        _controller(admin),
        _topic(good),
        _topic(twice),
        _topic(twice),
        _topic("no/topic"),
        _topic("factor", replication_factor=2),
        _topic("none", num_partitions=0),
        _topic("null", configs=[{"name": "retention.ms", "value": None}]),
        _topic("unknown", configs=[{"name": "x", "value": "y"}]),
        _topic("both", num_partitions=1, assignments=one),
        _topic("same", assignments=[{"partition_index": 0, "broker_ids": [1, 1]}]),
        validate_only=True,
    )
    assert {name: answer.error_code for name, answer in answers.items()} == {
        good: 0,
        twice: ErrorCode.INVALID_REQUEST,
        "no/topic": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "factor": ErrorCode.INVALID_REPLICATION_FACTOR,
        "none": ErrorCode.INVALID_PARTITIONS,
        "null": ErrorCode.INVALID_CONFIG,
        "unknown": ErrorCode.INVALID_CONFIG,
        "both": ErrorCode.INVALID_REQUEST,
        "same": ErrorCode.INVALID_REPLICATION_ASSIGNMENT,
    }
    assert "Use 1" in answers["factor"].error_message
    assert answers[good].topic_id is None
    assert good not in admin.list_topics(timeout=10).topics


def test_an_assignment_is_followed(admin, ask) -> None:
    name = _name()
    assignments = [
        {"partition_index": 0, "broker_ids": [2]},
        {"partition_index": 1, "broker_ids": [2]},
    ]
    created = _create(ask, _controller(admin), _topic(name, assignments=assignments), version=2)
    assert created[name].error_code == 0
    metadata = admin.list_topics(name, timeout=10).topics[name]
    assert {i: p.replicas for i, p in metadata.partitions.items()} == {0: [2], 1: [2]}


def test_topics_are_deleted_by_name_and_by_id(admin, ask, brokers: BrokerdCluster) -> None:
    first, second = _name(), _name()
    controller = _controller(admin)
    created = _create(ask, controller, _topic(first), _topic(second))
    unknown = uuid.uuid4()
    request = {
        "topics": [
            {"name": first, "topic_id": None},
            {"name": None, "topic_id": created[second].topic_id},
            {"name": None, "topic_id": unknown},
            {"name": "never-made", "topic_id": None},
            {"name": None, "topic_id": None},
        ],
        "timeout": 10_000,
    }
    answers = ask(ApiKey.DELETE_TOPICS, 6, request, broker=controller).responses
    assert {(a.name, a.topic_id, a.error_code) for a in answers} == {
        (first, None, 0),
        (second, created[second].topic_id, 0),
        (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID),
        ("never-made", None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, None, ErrorCode.INVALID_REQUEST),
    }
    assert not {first, second} & set(admin.list_topics(timeout=10).topics)
    for broker in brokers.brokers:
        left = [p.name for p in broker.logs.iterdir() if p.name.startswith((first, second))]
        assert all(name.endswith("-delete") for name in left)
    again = _create(ask, controller, _topic(first))
    assert again[first].topic_id != created[first].topic_id
    request = {"topic_names": [first], "timeout": 10_000}
    (answer,) = ask(ApiKey.DELETE_TOPICS, 1, request, broker=controller).responses
    assert (answer.name, answer.error_code) == (first, 0)


def test_a_topic_grows_and_never_shrinks(admin, ask) -> None:
    name = _name()
    for future in admin.create_topics([NewTopic(name, 2, 1)]).values():
        future.result(timeout=10)
    for future in admin.create_partitions([NewPartitions(name, 5)]).values():
        future.result(timeout=10)
    assert len(admin.list_topics(name, timeout=10).topics[name].partitions) == 5
    request = {
        "topics": [
            {"name": name, "count": 4, "assignments": None},
            {"name": "never-made", "count": 4, "assignments": None},
        ],
        "timeout": 10_000,
    }
    answers = ask(ApiKey.CREATE_PARTITIONS, 3, request, broker=_controller(admin)).results
    assert {answer.name: answer.error_code for answer in answers} == {
        name: ErrorCode.INVALID_PARTITIONS,
        "never-made": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    request["topics"] = [{"name": name, "count": 6, "assignments": ()}]
    (answer,) = ask(ApiKey.CREATE_PARTITIONS, 3, request, broker=_controller(admin)).results
    assert answer.error_code == ErrorCode.INVALID_REPLICATION_ASSIGNMENT


class _Administration:
    """A cluster where every topic can be made, without a wait."""

    async def create(self, wanted: Any, **_: Any) -> dict[str, TopicPlan]:
        return {
            each.name: TopicPlan(
                name=each.name,
                node=TopicNode(topic_id=uuid.UUID(int=1), replicas={0: (1,)}),
                config=each.config,
            )
            for each in wanted
        }


async def test_a_long_creation_is_answered_in_turns_and_settings_are_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, str]] = []
    entries = topics.topic_entries

    def counted(config: dict[str, str], *rest: Any) -> Any:
        asked.append(config)
        return entries(config, *rest)

    monkeypatch.setattr(topics, "topic_entries", counted)
    names = [f"t-{number}" for number in range(3_000)]
    small = SimpleNamespace(name="retention.ms", value="5000")
    wanted = [SimpleNamespace(**_topic(n, configs=[small] if n == "t-7" else [])) for n in names]
    request = SimpleNamespace(topics=wanted, timeout=timedelta(0), validate_only=False)
    static = parse("broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n")
    settings: Any = SimpleNamespace(now=DynamicBrokerConfig(static=static))
    cluster: Any = SimpleNamespace(topics=_Administration())
    handlers = topics.TopicHandlers(cluster, settings)
    context: Any = SimpleNamespace(api_version=7)
    order: list[str] = []

    async def create() -> Any:
        answer = await handlers.create_topics(context, request)
        order.append("the long one")
        return answer

    async def another() -> None:
        await asyncio.sleep(0)
        order.append("another")

    fields, _ = await asyncio.gather(create(), another())
    assert order == ["another", "the long one"]
    assert asked == [{}, {"retention.ms": "5000"}]
    body = encode_response(ApiKey.CREATE_TOPICS, 7, fields)
    told = decode_response(ApiKey.CREATE_TOPICS, 7, bytes(5) + body).topics
    assert [each.name for each in told] == names
    of = {each.name: {config.name: config.value for config in each.configs} for each in told}
    assert (of["t-6"]["retention.ms"], of["t-7"]["retention.ms"]) == ("604800000", "5000")
