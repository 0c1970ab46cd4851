"""The JSON in ZooKeeper, to and from values (Kafka's ZkData). Pure; the formats are Kafka 3.9's.
Paths are in `paths`.

    node                       version  its keys
    /brokers/ids/N             5        endpoints, listener_security_protocol_map, features, rack,
                                        and for old readers host and port
    /brokers/topics/T          3        topic_id, partitions, adding_replicas, removing_replicas
    …/partitions/P/state       1        leader, leader_epoch, controller_epoch, isr
    /controller                2        brokerid, timestamp, kraftControllerEpoch
    /controller_epoch                   a number
    /cluster/id                1        id
    /config/<type>/<name>      1        config
    /config/changes/…          2        entity_path
    /latest_producer_id_block  1        broker, block_start, block_end
    /feature                   2        status, features

A node that does not parse raises NodeFormatError, which says what is wrong. Unknown keys are passed
over, since later versions add keys.
"""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from brokerd.replication.partition_state import PartitionState

T = TypeVar("T")


class NodeFormatError(Exception):
    """The data of a ZooKeeper node are not what its path promises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicNode:
    """`/brokers/topics/T`. `topic_id` is None for topics of Kafka before 2.8."""

    topic_id: UUID | None
    replicas: dict[int, tuple[int, ...]]
    adding: dict[int, tuple[int, ...]] = field(default_factory=dict)
    removing: dict[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedState:
    """A partition's state as read from ZooKeeper, with the zxids of its `state` node."""

    state: PartitionState
    created_zxid: int
    modified_zxid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An advertised listener: its name, its security protocol and where clients reach it."""

    listener: str
    security_protocol: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredBroker:
    """`/brokers/ids/N`. `epoch` is the czxid of the node: a new one is a new incarnation."""

    id: int
    endpoints: dict[str, tuple[str, int]]
    rack: str | None = None
    epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdBlock:
    """`/latest_producer_id_block`: `first` and `last` are inclusive."""

    broker_id: int
    first: int
    last: int


def dump(value: Mapping[str, Any]) -> bytes:
    """Compact JSON as Kafka writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _parse(what: str, data: bytes, read: Callable[[Any], T]) -> T:
    try:
        return read(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = data[:200].decode(errors="replace")
        raise NodeFormatError(f"{what} is not readable ({error!r}): {shown}") from error


def topic_id_text(topic_id: UUID) -> str:
    """The 22 characters of Kafka's Uuid: base64url without padding."""
    return base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()


def parse_topic_id(text: str) -> UUID:
    return UUID(bytes=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def encode_broker(endpoints: tuple[Endpoint, ...], rack: str | None, timestamp_ms: int) -> bytes:
    """The registration. `host` and `port` repeat the first PLAINTEXT endpoint, for old readers."""
    plain = next((e for e in endpoints if e.security_protocol == "PLAINTEXT"), None)
    value: dict[str, Any] = {
        "features": {},
        "listener_security_protocol_map": {e.listener: e.security_protocol for e in endpoints},
        "endpoints": [f"{e.listener}://{_bracketed(e.host)}:{e.port}" for e in endpoints],
        "jmx_port": -1,
        "port": plain.port if plain else -1,
        "host": plain.host if plain else None,
        "version": 5,
        "timestamp": str(timestamp_ms),
    }
    if rack is not None:
        value["rack"] = rack
    return dump(value)


def decode_broker(broker_id: int, data: bytes, epoch: int) -> RegisteredBroker:
    """`epoch` is the czxid of the node."""

    def read(value: Any) -> RegisteredBroker:
        endpoints = dict(_endpoint(text) for text in value["endpoints"])
        return RegisteredBroker(
            id=broker_id, endpoints=endpoints, rack=value.get("rack"), epoch=epoch
        )

    return _parse(f"the registration of broker {broker_id}", data, read)


def _endpoint(text: str) -> tuple[str, tuple[str, int]]:
    listener, _, address = text.partition("://")
    host, _, port = address.rpartition(":")
    return listener, (host.removeprefix("[").removesuffix("]"), int(port))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def encode_topic(node: TopicNode) -> bytes:
    value: dict[str, Any] = {
        "removing_replicas": _by_text(node.removing),
        "partitions": _by_text(node.replicas),
        "adding_replicas": _by_text(node.adding),
        "version": 3,
    }
    if node.topic_id is not None:
        value["topic_id"] = topic_id_text(node.topic_id)
    return dump(value)


def decode_topic(name: str, data: bytes) -> TopicNode:
    def read(value: Any) -> TopicNode:
        text = value.get("topic_id")
        return TopicNode(
            topic_id=parse_topic_id(text) if text else None,
            replicas=_by_index(value["partitions"]),
            adding=_by_index(value.get("adding_replicas", {})),
            removing=_by_index(value.get("removing_replicas", {})),
        )

    return _parse(f"topic {name}", data, read)


def _by_text(replicas: Mapping[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(index): list(replicas[index]) for index in sorted(replicas)}


def _by_index(value: Any) -> dict[int, tuple[int, ...]]:
    return {int(index): tuple(map(int, ids)) for index, ids in value.items()}


def encode_partition_state(state: PartitionState) -> bytes:
    return dump(
        {
            "controller_epoch": state.controller_epoch,
            "leader": state.leader,
            "version": 1,
            "leader_epoch": state.leader_epoch,
            "isr": list(state.isr),
        }
    )


def decode_partition_state(
    topic: str, index: int, node: TopicNode, data: bytes, version: int
) -> PartitionState:
    """The state of a partition from its own node and that of its topic, which must have an id. One
    that was never changed is new."""

    def read(value: Any) -> PartitionState:
        assert node.topic_id is not None
        return PartitionState(
            topic=topic,
            partition=index,
            topic_id=node.topic_id,
            replicas=node.replicas[index],
            adding=node.adding.get(index, ()),
            removing=node.removing.get(index, ()),
            leader=int(value["leader"]),
            leader_epoch=int(value["leader_epoch"]),
            isr=tuple(map(int, value["isr"])),
            controller_epoch=int(value["controller_epoch"]),
            version=version,
            is_new=version == 0,
        )

    return _parse(f"the state of {topic}-{index}", data, read)


def encode_controller(broker_id: int, timestamp_ms: int) -> bytes:
    return dump(
        {
            "version": 2,
            "brokerid": broker_id,
            "timestamp": str(timestamp_ms),
            "kraftControllerEpoch": -1,
        }
    )


def decode_controller(data: bytes) -> int:
    return _parse("/controller", data, lambda value: int(value["brokerid"]))


def decode_controller_epoch(data: bytes) -> int:
    return _parse("/controller_epoch", data, int)


def encode_cluster_id(cluster_id: str) -> bytes:
    return dump({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes) -> str:
    return _parse("/cluster/id", data, lambda value: str(value["id"]))


def encode_config(config: Mapping[str, str]) -> bytes:
    return dump({"version": 1, "config": dict(config)})


def decode_config(path: str, data: bytes) -> dict[str, str]:
    """An empty node is an empty config, as Kafka reads it."""
    if not data:
        return {}
    return _parse(path, data, lambda value: {str(k): str(v) for k, v in value["config"].items()})


def encode_config_change(entity_path: str) -> bytes:
    return dump({"version": 2, "entity_path": entity_path})


def decode_config_change(data: bytes) -> str:
    """The entity path that changed, such as `topics/T`; tools of old wrote type and name apart."""

    def read(value: Any) -> str:
        if value["version"] == 1:
            return f"{value['entity_type']}/{value['entity_name']}"
        return str(value["entity_path"])

    return _parse("a config change", data, read)


def encode_producer_id_block(block: ProducerIdBlock) -> bytes:
    return dump(
        {
            "version": 1,
            "broker": block.broker_id,
            "block_start": str(block.first),
            "block_end": str(block.last),
        }
    )


def decode_producer_id_block(data: bytes) -> ProducerIdBlock | None:
    """None for the empty node that a fresh cluster has."""
    if not data:
        return None

    def read(value: Any) -> ProducerIdBlock:
        return ProducerIdBlock(
            broker_id=int(value["broker"]),
            first=int(value["block_start"]),
            last=int(value["block_end"]),
        )

    return _parse("/latest_producer_id_block", data, read)


def encode_feature() -> bytes:
    """`/feature` of a cluster whose feature versioning is enabled and that has none finalised."""
    return dump({"version": 2, "status": 1, "features": {}})
