"""Topic settings: what is refused, and the four operations."""

import pytest

from brokerd.config.log_config import TOPIC_KEYS
from brokerd.config.prepare_incremental_configs import ConfigChange, ConfigOperation
from brokerd.config.setting_documentation import TOPIC_DOCUMENTATION
from brokerd.config.validate_topic_config import apply_changes, validate_topic_config
from brokerd.errors import ErrorCode, KafkaError

SET, DELETE, APPEND, SUBTRACT = ConfigOperation


def _change(name: str, operation: ConfigOperation, value: str | None = None) -> ConfigChange:
    return ConfigChange(name=name, operation=operation, value=value)


def test_every_setting_is_explained() -> None:
    assert set(TOPIC_DOCUMENTATION) == set(TOPIC_KEYS)


@pytest.mark.parametrize(
    "config",
    [
        {"retention.ms": "-1", "cleanup.policy": "compact,delete", "segment.bytes": "1048576"},
        {"message.format.version": "2.8-IV1", "message.downconversion.enable": "FALSE"},
        {"leader.replication.throttled.replicas": " 0:1, 1:2 ", "remote.storage.enable": "false"},
        {"follower.replication.throttled.replicas": "*", "local.retention.ms": "-2"},
    ],
)
def test_good_settings_pass(config) -> None:
    validate_topic_config(config)


@pytest.mark.parametrize(
    "config",
    [
        {"no.such.setting": "1"},
        {"message.format.version": "nonsense"},
        {"leader.replication.throttled.replicas": "x:y"},
        {"local.retention.bytes": "-3"},
        {"remote.storage.enable": "true"},
        {"message.timestamp.difference.max.ms": "-1"},
        {"retention.ms": "soon"},
        {"retention.ms": "-2"},
        {"cleanup.policy": "keep"},
        {"min.insync.replicas": "0"},
        {"segment.bytes": "3000000000"},
        {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"},
    ],
)
def test_bad_settings_are_refused_by_name(config) -> None:
    with pytest.raises(KafkaError, match=next(iter(config))) as refused:
        validate_topic_config(config)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_settings_that_zookeeper_could_not_hold_are_refused() -> None:
    with pytest.raises(KafkaError, match="131072 characters"):
        validate_topic_config({"cleanup.policy": "compact," * 20_000})


def test_a_topics_setting_must_go_with_the_brokers() -> None:
    broker = {"log.cleaner.max.compaction.lag.ms": "5"}
    validate_topic_config({"min.compaction.lag.ms": "5"}, broker)
    with pytest.raises(KafkaError, match="must not be above"):
        validate_topic_config({"min.compaction.lag.ms": "6"}, broker)


@pytest.mark.parametrize(
    ("held", "change", "after"),
    [
        ({}, _change("retention.ms", SET, "5"), {"retention.ms": "5"}),
        ({"retention.ms": "5"}, _change("retention.ms", DELETE), {}),
        ({}, _change("retention.ms", DELETE), {}),
        ({}, _change("unknown", DELETE), {}),
        ({}, _change("cleanup.policy", APPEND, "compact"), {"cleanup.policy": "delete,compact"}),
        (
            {"cleanup.policy": "compact"},
            _change("cleanup.policy", APPEND, "compact"),
            {"cleanup.policy": "compact"},
        ),
        (
            {"cleanup.policy": "compact,delete"},
            _change("cleanup.policy", SUBTRACT, "compact"),
            {"cleanup.policy": "delete"},
        ),
    ],
)
def test_an_operation_changes_one_setting(held, change, after) -> None:
    before = dict(held)
    assert apply_changes(held, [change]) == after
    assert held == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([_change("retention.ms", APPEND, "5")], ErrorCode.INVALID_CONFIG),
        ([_change("unknown", APPEND, "5")], ErrorCode.INVALID_CONFIG),
        ([_change("unknown", SET, "5")], ErrorCode.INVALID_CONFIG),
        ([_change("retention.ms", SET)], ErrorCode.INVALID_REQUEST),
        (
            [_change("retention.ms", SET, "5"), _change("retention.ms", DELETE)],
            ErrorCode.INVALID_REQUEST,
        ),
        (
            [_change("retention.ms", SET, "5"), _change("flush.ms", SET, "x")],
            ErrorCode.INVALID_CONFIG,
        ),
    ],
)
def test_a_bad_operation_refuses_all(changes, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        apply_changes({}, changes)
    assert refused.value.code is code
