"""Topic settings over broker settings over Kafka's defaults."""

import pytest

from brokerd.config.log_config import TOPIC_KEYS, LogConfig, effective_values


def test_the_defaults_are_kafkas() -> None:
    assert LogConfig.from_properties() == LogConfig()
    assert LogConfig().segment_bytes == 1 << 30
    assert LogConfig().retention_ms == 7 * 24 * 3_600_000


def test_a_topics_setting_wins_over_the_brokers() -> None:
    broker = {"log.segment.bytes": "1000", "log.index.interval.bytes": "10", "port": "1"}
    config = LogConfig.from_properties(broker, {"segment.bytes": "2000"})
    assert (config.segment_bytes, config.index_interval_bytes) == (2000, 10)


@pytest.mark.parametrize(
    ("broker", "retention_ms"),
    [
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.minutes": "3", "log.retention.ms": "9"}, 9),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_the_finer_unit_wins(broker: dict[str, str], retention_ms: int) -> None:
    assert LogConfig.from_properties(broker).retention_ms == retention_ms


def test_the_older_limit_of_timestamps_holds_where_the_newer_ones_say_nothing() -> None:
    older = {"message.timestamp.difference.max.ms": "500"}
    config = LogConfig.from_properties({}, older)
    assert (config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms) == (
        500,
        500,
    )
    newer = LogConfig.from_properties({}, older | {"message.timestamp.after.max.ms": "7"})
    assert (newer.message_timestamp_before_max_ms, newer.message_timestamp_after_max_ms) == (500, 7)
    broker = {"log.message.timestamp.difference.max.ms": "9"}
    assert LogConfig.from_properties(broker).message_timestamp_before_max_ms == 9


def test_a_list_is_split() -> None:
    config = LogConfig.from_properties({}, {"cleanup.policy": "compact, delete"})
    assert config.cleanup_policy == ("compact", "delete")
    assert config.is_compacted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("segment.bytes", "ten"), ("segment.bytes", "13"), ("cleanup.policy", "shrink"),
        ("cleanup.policy", "delete,"), ("cleanup.policy", ","),
        ("cleanup.policy", "delete,,compact"),
        ("retention.ms", "-2"), ("preallocate", "maybe"), ("min.cleanable.dirty.ratio", "1.5"),
        ("message.timestamp.type", "Never"), ("compression.type", "zip"),
        ("retention.ms", "１２"), ("retention.ms", "1_000"), ("min.cleanable.dirty.ratio", "NaN"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=name):
        LogConfig.from_properties({}, {name: text})


def test_every_default_is_valid_and_every_key_has_a_value() -> None:
    empty = effective_values({"log.cleanup.policy": "compact"}, {"cleanup.policy": ""})
    assert empty["cleanup.policy"] == "", "neither deleted nor compacted, as in Kafka"
    assert effective_values({}, {}) == {key.name: key.default for key in TOPIC_KEYS.values()}
    for key in TOPIC_KEYS.values():
        key.parse(key.default)


def test_a_segment_of_a_compacted_topic_is_closed_before_its_records_may_stay_no_longer() -> None:
    lag = {"max.compaction.lag.ms": "1000"}
    assert LogConfig.from_properties({}, lag).longest_segment_ms == 604_800_000
    compacted = {"cleanup.policy": "compact"}
    assert LogConfig.from_properties({}, compacted | lag).longest_segment_ms == 1000
    assert LogConfig.from_properties({}, compacted).longest_segment_ms == 604_800_000
    longer = compacted | lag | {"min.compaction.lag.ms": "5000"}
    assert LogConfig.from_properties({}, longer).longest_segment_ms == 5000
