"""Settings, quotas, offsets of version 9: Apache Kafka and brokerd are asked the same."""

import time
from typing import Any

import pytest

from brokerd.protocol.api_keys import ApiKey
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)
OWN = frozenset(
    {
        "advertised.listeners", "broker.id", "group.min.session.timeout.ms", "listeners",
        "listener.security.protocol.map", "log.dir", "log.dirs", "offsets.topic.num.partitions",
        "offsets.topic.replication.factor", "queued.max.request.bytes",
        "socket.receive.buffer.bytes", "socket.send.buffer.bytes", "zookeeper.connect",
        "zookeeper.connection.timeout.ms",
    }
)  # fmt: skip
"""What the two brokers are given differently here, or have other defaults for."""


@pytest.fixture(scope="module")
def ports(kafka_port: int, brokerd_port: int) -> tuple[int, int]:
    """Both with the topics `settled` and `altered` and a coordinator that has loaded its groups."""
    for port in (kafka_port, brokerd_port):
        with Wire(port) as wire:
            topics = [{"name": name, "num_partitions": 1, "replication_factor": 1}
                      for name in ("settled", "altered")]  # fmt: skip
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": topics, "timeout": 20_000})
            for group in ("nine", "ten", "none", ""):
                asked = {"key_type": 0, "key": group}
                while wire.ask(ApiKey.FIND_COORDINATOR, 1, asked).error_code:
                    time.sleep(0.1)
                while wire.ask(*fetch(group)).groups[0].error_code:
                    time.sleep(0.1)
    return kafka_port, brokerd_port


def alter(kind: int, name: str, *changes: tuple[str, int, str | None], tried: bool = False) -> Any:
    rows = [{"name": key, "config_operation": how, "value": value} for key, how, value in changes]
    resource = {"resource_type": kind, "resource_name": name, "configs": rows}
    return ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource], "validate_only": tried}


def replace(kind: int, name: str, **configs: str | None) -> Any:
    rows = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
    resource = {"resource_type": kind, "resource_name": name, "configs": rows}
    return ApiKey.ALTER_CONFIGS, 2, {"resources": [resource], "validate_only": False}


def describe(kind: int, name: str, *keys: str) -> Any:
    resource = {"resource_type": kind, "resource_name": name,
                "configuration_keys": list(keys) or None}  # fmt: skip
    asked = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
    return ApiKey.DESCRIBE_CONFIGS, 4, asked


def told(port: int, request: Any) -> dict[str, Any]:
    """Each setting of the one resource that is asked for; the error code under ''."""
    with Wire(port) as wire:
        (result,) = wire.ask(*request).results
    settings: dict[str, Any] = {"": int(result.error_code)}
    for each in result.configs:
        synonyms = [(one.name, one.value, one.source) for one in each.synonyms]
        settings[each.name] = (each.value, each.config_source, each.config_type, each.read_only,
                               each.is_sensitive, synonyms)  # fmt: skip
    return settings


def codes(port: int, request: Any) -> list[int]:
    with Wire(port) as wire:
        answer = wire.ask(*request)
    rows = answer.responses if hasattr(answer, "responses") else answer.entries
    return [int(each.error_code) for each in rows]


def test_every_setting_is_told_as_apache_kafka_tells_it(ports: tuple[int, int]) -> None:
    for kind, name in ((BROKER, "1"), (TOPIC, "settled")):
        theirs, ours = (told(port, describe(kind, name)) for port in ports)
        for key in filter(lambda key: key.startswith("ssl."), ours):
            # Kafka says that they may change, and refuses it without the prefix of a listener.
            theirs[key], ours[key] = ((*told[:3], *told[4:]) for told in (theirs[key], ours[key]))
        shared = {key for key in ours if not key.startswith("brokerd.")} - OWN
        assert {key: ours[key] for key in shared} == {key: theirs.get(key) for key in shared}
        assert len(shared) > 20
        if kind == TOPIC:
            assert ours.keys() == theirs.keys()


CHANGES = [
    alter(BROKER, "1", ("num.partitions", SET, "3")),
    alter(BROKER, "", ("num.partitions", SET, "3"), ("broker.id", SET, "3")),
    alter(BROKER, "", ("advertised.listeners", SET, "PLAINTEXT://localhost:1")),
    alter(BROKER, "1", ("ssl.keystore.location", SET, "/x")),
    alter(BROKER, "1", ("no.such", SET, "3")),
    alter(BROKER, "1", ("never.set", DELETE, None)),
    *(alter(BROKER, "", (name, SET, value)) for name, value in (
        ("log.cleaner.threads", "x"),
        ("max.connections.per.ip", "-1"), ("max.connections.per.ip", "0"),
        ("log.cleanup.policy", "keep"), ("compression.type", "keep"), ("log.roll.ms", "0"),
        ("log.retention.ms", "0"), ("min.insync.replicas", "0"), ("log.retention.bytes", "-5"),
        ("log.cleaner.dedupe.buffer.size", "1000"), ("leader.replication.throttled.rate", "-1"),
    )),
    alter(BROKER, "", ("log.retention.ms", SET, "5"), tried=True),
    alter(BROKER, "", ("log.retention.ms", SET, "500000000"), ("max.connections", SET, "1000")),
    alter(BROKER, "1", ("log.retention.ms", SET, "600000000"), ("log.cleaner.threads", SET, "2")),
    alter(BROKER, "", ("log.cleanup.policy", APPEND, "compact")),
    alter(BROKER, "", ("log.retention.ms", APPEND, "5")),
    alter(BROKER, "", ("log.cleanup.policy", SUBTRACT, "compact")),
    alter(BROKER, "", ("log.retention.ms", SET, None)),
    alter(BROKER, "", ("log.retention.ms", SET, "1"), ("log.retention.ms", SET, "2")),
    alter(BROKER, "2", ("log.retention.ms", SET, "1")),
    alter(BROKER, "x", ("log.retention.ms", SET, "1")),
    alter(TOPIC, "altered", ("no.such", SET, "3")),
    alter(TOPIC, "altered", ("no.such", DELETE, None)),
    alter(TOPIC, "", ("retention.ms", SET, "3")),
    alter(TOPIC, "altered", ("segment.bytes", SET, "2147483648")),
    alter(TOPIC, "altered", ("min.compaction.lag.ms", SET, "9"),
          ("max.compaction.lag.ms", SET, "8")),
    *(alter(TOPIC, "altered", (name, SET, value), tried=True) for name, value in (
        ("leader.replication.throttled.replicas", "*"), ("local.retention.ms", "-3"),
        ("leader.replication.throttled.replicas", "x"), ("local.retention.ms", "-2"),
        ("remote.storage.enable", "true"), ("remote.storage.enable", "false"),
        ("remote.log.copy.disable", "true"), ("message.format.version", "nonsense"),
        ("message.format.version", "2.8-IV1"), ("message.downconversion.enable", "x"),
        ("message.timestamp.difference.max.ms", "-1"),
    )),
    alter(TOPIC, "altered", ("leader.replication.throttled.replicas", SET, "0:1")),
    alter(TOPIC, "altered", ("leader.replication.throttled.replicas", APPEND, "1:1")),
    alter(TOPIC, "altered", ("preallocate", SET, "FALSE"), ("retention.ms", SET, " 07 ")),
    replace(BROKER, "", log_retention_ms=None),
    replace(BROKER, "", num_partitions="3"),
    alter(LOGGER, "1", ("root", SET, "LOUD")), alter(LOGGER, "1", ("root", DELETE, None)),
    alter(LOGGER, "1", ("root", APPEND, "INFO")), alter(LOGGER, "1", ("no.such", SET, "INFO")),
    alter(LOGGER, "2", ("root", SET, "INFO")), alter(LOGGER, "", ("root", SET, "INFO")),
    replace(LOGGER, "1", root="INFO"), replace(99, "1", a="b"),
]  # fmt: skip


def test_settings_change_as_in_apache_kafka(ports: tuple[int, int]) -> None:
    for request in CHANGES:
        theirs, ours = (codes(port, request) for port in ports)
        assert ours == theirs, request
    for request in (
        describe(BROKER, ""), describe(BROKER, "x"), describe(LOGGER, "1", "root"),
        describe(LOGGER, ""), describe(TOPIC, "altered", "retention.ms", "preallocate",
                                        "leader.replication.throttled.replicas"),
        describe(TOPIC, "settled", "cleanup.policy", "segment.bytes"),
        describe(BROKER, "1", "log.retention.ms", "log.cleaner.threads", "max.connections",
                 "no.such", "log.retention.hours"),
    ):  # fmt: skip
        theirs_told, ours_told = (told(port, request) for port in ports)
        assert ours_told == theirs_told, request
    for port in ports:
        assert codes(port, replace(BROKER, "")) == codes(port, replace(BROKER, "1")) == [0]


RATE = "producer_byte_rate"


def quota(entity: dict[str, str | None], *ops: tuple[str, float | None]) -> Any:
    parts = [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()]
    rows = [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in ops]
    return ApiKey.ALTER_CLIENT_QUOTAS, 1, {"entries": [{"entity": parts, "ops": rows}]}


QUOTAS = [
    quota({"user": "ada"}, (RATE, 1000.0), ("request_percentage", 12.5)),
    quota({"user": "ada", "client-id": "x y"}, (RATE, 1.0)),
    quota({"client-id": None}, ("controller_mutation_rate", 1.5)),
    quota({"user": None, "client-id": None}, (RATE, 7.0)),
    quota({"ip": "10.0.0.1"}, ("connection_creation_rate", 5.0)),
    quota({"user": "ada"}, (RATE, 1.5)), quota({"user": "ada"}, (RATE, -1.0)),
    quota({"user": "ada"}, ("nope", 1.0)), quota({}, (RATE, 1.0)), quota({"user": ""}, (RATE, 1.0)),
    quota({"planet": "mars"}, (RATE, 1.0)), quota({"ip": "1.1.1.1", "user": "a"}, (RATE, 1.0)),
    quota({"ip": "1.1.1.1"}, (RATE, 1.0)), quota({"ip": "no ip"}, ("connection_creation_rate", 1)),
    quota({"user": "bob"}, (RATE, None)), quota({"user": "zed"}),
    quota({"user": "ada"}, (RATE, None)),
]  # fmt: skip


def entries(port: int, strict: bool, *components: tuple[str, int, str | None]) -> list[Any]:
    rows = [{"entity_type": kind, "match_type": how, "match": name}
            for kind, how, name in components]  # fmt: skip
    with Wire(port) as wire:
        answer = wire.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, {"components": rows, "strict": strict})
    assert answer.error_code == 0
    found = [
        (sorted((part.entity_type, part.entity_name or "") for part in each.entity),
         sorted((value.key, value.value) for value in each.values))
        for each in answer.entries
    ]  # fmt: skip
    return sorted(found)


def test_quotas_are_kept_as_in_apache_kafka(ports: tuple[int, int]) -> None:
    for request in QUOTAS:
        theirs, ours = (codes(port, request) for port in ports)
        assert ours == theirs, request
    for strict in (False, True):
        for components in (
            (), (("user", 0, "ada"),), (("user", 1, None),), (("user", 2, None),),
            (("ip", 2, None),), (("client-id", 2, None),),
            (("user", 2, None), ("client-id", 2, None)),
            (("user", 0, "nobody"),), (("ip", 0, "10.0.0.1"),),
        ):  # fmt: skip
            theirs_found, ours_found = (entries(port, strict, *components) for port in ports)
            assert ours_found == theirs_found, components
    for port in ports:  # Kafka holds who asks next to them
        for entity, values in entries(port, False):
            names = {kind: name or None for kind, name in entity}
            assert codes(port, quota(names, *((key, None) for key, _ in values))) == [0]
        assert entries(port, False) == []


def commit(group: str, generation: int, member: str, **more: Any) -> Any:
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": "", **more}
    return ApiKey.OFFSET_COMMIT, 9, {
        "group_id": group, "generation_id_or_member_epoch": generation, "member_id": member,
        "topics": [{"name": "settled", "partitions": [row]}],
    }  # fmt: skip


def fetch(group: str, member: str | None = None, epoch: int = -1, *, every: bool = False) -> Any:
    topics = None if every else [{"name": "settled", "partition_indexes": [0, 5]}]
    asked = {"group_id": group, "member_id": member, "member_epoch": epoch, "topics": topics}
    return ApiKey.OFFSET_FETCH, 9, {"groups": [asked], "require_stable": False}


def features(*names: str, level: int = 1) -> Any:
    rows = [{"feature": name, "max_version_level": level, "upgrade_type": 1} for name in names]
    asked = {"timeout": 5000, "feature_updates": rows, "validate_only": False}
    return ApiKey.UPDATE_FEATURES, 1, asked


NEWEST = [
    commit("nine", -1, ""), commit("nine", 3, "m"), commit("nine", -1, "m"), commit("nine", 3, ""),
    commit("ten", 0, ""), commit("", -1, ""), commit("nine", -1, "", partition_index=7),
    commit("nine", -1, "", committed_metadata="x" * 5000), commit("ten", 3, "m"),
    fetch("nine"), fetch("nine", "m", 3), fetch("none"), fetch(""), fetch("nine", every=True),
    fetch("none", "m", 3, every=True), features("metadata.version"), features(), features("", "a"),
    features("metadata.version", level=0),
]  # fmt: skip


def plain(answer: Any) -> str:
    """The answer without its words."""
    rows = getattr(answer, "results", ())
    return repr([(row.feature, int(row.error_code)) for row in rows] if rows else answer)


@pytest.mark.parametrize("number", range(len(NEWEST)))
def test_the_newest_versions_answer_as_apache_kafka(ports: tuple[int, int], number: int) -> None:
    answers = []
    for port in ports:
        with Wire(port) as wire:
            answers.append(plain(wire.ask(*NEWEST[number])))
    assert answers[1] == answers[0]


def test_features_and_their_epoch_are_told_as_apache_kafka_tells_them(
    ports: tuple[int, int],
) -> None:
    fields = {"client_software_name": "wire", "client_software_version": "1.0"}
    answers = []
    for port in ports:
        with Wire(port) as wire:
            answer = wire.ask(ApiKey.API_VERSIONS, 4, fields)
        answers.append((answer.supported_features, answer.finalized_features,
                        answer.finalized_features_epoch, answer.zk_migration_ready))  # fmt: skip
    assert answers[1] == answers[0]
