"""The settings of one partition log: topic-level names over the broker's defaults over Kafka's.

`TOPIC_KEYS` is the one table of topic-level settings: their type, range, default, and the broker
settings that give the topic its default (the first one that is set wins; a factor turns hours and
minutes into milliseconds). `LogConfig` holds the ones that the broker acts on, named as the topic
setting with underscores. `WITHOUT_EFFECT` has the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, NamedTuple
from zlib import crc32

from brokerd.config import value_parsers
from brokerd.config.value_parsers import ConfigType
from brokerd.integer_ranges import INT32_MAX, INT64_MAX
from brokerd.protocol.compression import Codec

_INT, _LONG = ConfigType.INT, ConfigType.LONG


class BrokerKey(NamedTuple):
    """A broker setting that is the default of a topic setting; `factor` converts its unit."""

    name: str
    factor: int = 1


class TopicKey(NamedTuple):
    """One topic-level setting. `choices` bounds strings and list items, `least`/`most` numbers."""

    name: str
    type: ConfigType
    default: str
    broker_keys: tuple[BrokerKey, ...]
    least: int = 0
    most: int | None = None
    """None: as much as the type holds."""
    choices: tuple[str, ...] = ()
    besides: int | None = None
    """A number that is allowed though it lies outside `least` to `most`."""

    def parse(self, text: str) -> Any:
        """The value of `text`. Raises ValueError that says what would be valid."""
        try:
            return self.value_of(text)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    @property
    def default_value(self) -> Any:
        return self.value_of(self.default)

    def value_of(self, text: str) -> Any:
        """As `parse`; the error does not name the setting."""
        return self._parser(text)(text.strip())

    def _parser(self, text: str) -> value_parsers.Parser:
        if self.type is ConfigType.BOOLEAN:
            return value_parsers.boolean
        if self.type is ConfigType.DOUBLE:
            return value_parsers.ratio
        if self.type is ConfigType.STRING:
            return value_parsers.one_of(*self.choices)
        if self.type is ConfigType.LIST:
            return value_parsers.words_of(*self.choices) if text.strip() else value_parsers.words
        most = self.most or (INT32_MAX if self.type is _INT else INT64_MAX)
        if self.besides is None:
            return value_parsers.integer(self.least, most)
        return value_parsers.integer_or(self.besides, self.least, most)


def _broker(*names: str) -> tuple[BrokerKey, ...]:
    return tuple(BrokerKey(name) for name in names)


_HOUR_MS = 3_600_000
_CODECS: Final[dict[str, Codec | None]] = {
    "producer": None,
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}

TOPIC_KEYS: Final[dict[str, TopicKey]] = {
    key.name: key
    for key in (
        TopicKey("cleanup.policy", ConfigType.LIST, "delete", _broker("log.cleanup.policy"),
                 choices=("delete", "compact")),
        TopicKey("compression.gzip.level", _INT, "-1", _broker("compression.gzip.level"), least=1,
                 most=9, besides=-1),
        TopicKey("compression.lz4.level", _INT, "9", _broker("compression.lz4.level"), least=1,
                 most=17),
        TopicKey("compression.type", ConfigType.STRING, "producer", _broker("compression.type"),
                 choices=tuple(_CODECS)),
        TopicKey("compression.zstd.level", _INT, "3", _broker("compression.zstd.level"),
                 least=-131_072, most=22),
        TopicKey("delete.retention.ms", _LONG, "86400000",
                 _broker("log.cleaner.delete.retention.ms")),
        TopicKey("file.delete.delay.ms", _LONG, "60000", _broker("log.segment.delete.delay.ms")),
        TopicKey("flush.messages", _LONG, str(INT64_MAX), _broker("log.flush.interval.messages"),
                 least=1),
        TopicKey("flush.ms", _LONG, str(INT64_MAX),
                 _broker("log.flush.interval.ms", "log.flush.scheduler.interval.ms")),
        TopicKey("index.interval.bytes", _INT, "4096", _broker("log.index.interval.bytes")),
        TopicKey("max.compaction.lag.ms", _LONG, str(INT64_MAX),
                 _broker("log.cleaner.max.compaction.lag.ms"), least=1),
        TopicKey("max.message.bytes", _INT, "1048588", _broker("message.max.bytes")),
        TopicKey("message.timestamp.after.max.ms", _LONG, str(INT64_MAX),
                 _broker("log.message.timestamp.after.max.ms")),
        TopicKey("message.timestamp.before.max.ms", _LONG, str(INT64_MAX),
                 _broker("log.message.timestamp.before.max.ms")),
        TopicKey("message.timestamp.difference.max.ms", _LONG, str(INT64_MAX),
                 _broker("log.message.timestamp.difference.max.ms")),
        TopicKey("message.timestamp.type", ConfigType.STRING, "CreateTime",
                 _broker("log.message.timestamp.type"), choices=("CreateTime", "LogAppendTime")),
        TopicKey("min.cleanable.dirty.ratio", ConfigType.DOUBLE, "0.5",
                 _broker("log.cleaner.min.cleanable.ratio")),
        TopicKey("min.compaction.lag.ms", _LONG, "0",
                 _broker("log.cleaner.min.compaction.lag.ms")),
        TopicKey("min.insync.replicas", _INT, "1", _broker("min.insync.replicas"), least=1),
        TopicKey("preallocate", ConfigType.BOOLEAN, "false", _broker("log.preallocate")),
        TopicKey("retention.bytes", _LONG, "-1", _broker("log.retention.bytes"), least=-1),
        TopicKey("retention.ms", _LONG, "604800000",
                 (BrokerKey("log.retention.ms"), BrokerKey("log.retention.minutes", 60_000),
                  BrokerKey("log.retention.hours", _HOUR_MS)), least=-1),
        TopicKey("segment.bytes", _INT, "1073741824", _broker("log.segment.bytes"), least=14),
        TopicKey("segment.index.bytes", _INT, "10485760", _broker("log.index.size.max.bytes"),
                 least=4),
        TopicKey("segment.jitter.ms", _LONG, "0",
                 (BrokerKey("log.roll.jitter.ms"), BrokerKey("log.roll.jitter.hours", _HOUR_MS))),
        TopicKey("segment.ms", _LONG, "604800000",
                 (BrokerKey("log.roll.ms"), BrokerKey("log.roll.hours", _HOUR_MS)), least=1),
        TopicKey("unclean.leader.election.enable", ConfigType.BOOLEAN, "false",
                 _broker("unclean.leader.election.enable")),
    )
}  # fmt: skip


def _default(name: str) -> Any:
    return TOPIC_KEYS[name].default_value


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The settings of one log. Times in ms, sizes in bytes; -1 in a retention means no limit."""

    cleanup_policy: tuple[str, ...] = _default("cleanup.policy")
    compression_gzip_level: int = _default("compression.gzip.level")
    compression_lz4_level: int = _default("compression.lz4.level")
    compression_type: str = _default("compression.type")
    compression_zstd_level: int = _default("compression.zstd.level")
    delete_retention_ms: int = _default("delete.retention.ms")
    file_delete_delay_ms: int = _default("file.delete.delay.ms")
    flush_messages: int = _default("flush.messages")
    flush_ms: int = _default("flush.ms")
    index_interval_bytes: int = _default("index.interval.bytes")
    max_compaction_lag_ms: int = _default("max.compaction.lag.ms")
    max_message_bytes: int = _default("max.message.bytes")
    message_timestamp_after_max_ms: int = _default("message.timestamp.after.max.ms")
    message_timestamp_before_max_ms: int = _default("message.timestamp.before.max.ms")
    message_timestamp_type: str = _default("message.timestamp.type")
    min_cleanable_dirty_ratio: float = _default("min.cleanable.dirty.ratio")
    min_compaction_lag_ms: int = _default("min.compaction.lag.ms")
    min_insync_replicas: int = _default("min.insync.replicas")
    retention_bytes: int = _default("retention.bytes")
    retention_ms: int = _default("retention.ms")
    segment_bytes: int = _default("segment.bytes")
    segment_index_bytes: int = _default("segment.index.bytes")
    segment_jitter_ms: int = _default("segment.jitter.ms")
    segment_ms: int = _default("segment.ms")
    unclean_leader_election_enable: bool = _default("unclean.leader.election.enable")

    is_compacted: bool = field(init=False, repr=False, compare=False)
    is_append_time: bool = field(init=False, repr=False, compare=False)
    limits_timestamps: bool = field(init=False, repr=False, compare=False)
    """Whether a producer's timestamp may be too far from the broker's clock."""
    longest_segment_ms: int = field(init=False, repr=False, compare=False)
    """When a segment is closed even if it is not full: what is active is never compacted."""
    codec: Codec | None = field(init=False, repr=False, compare=False)
    """What batches are stored with; None: with what they came with."""

    def __post_init__(self) -> None:
        """Computes once what every append asks for."""
        is_append_time = self.message_timestamp_type == "LogAppendTime"
        nearest = min(self.message_timestamp_after_max_ms, self.message_timestamp_before_max_ms)
        set_once = object.__setattr__
        set_once(self, "is_compacted", "compact" in self.cleanup_policy)
        set_once(self, "is_append_time", is_append_time)
        longest_ms = self.segment_ms
        if self.is_compacted:
            lag_ms = max(self.max_compaction_lag_ms, self.min_compaction_lag_ms)
            longest_ms = min(longest_ms, lag_ms)
        set_once(self, "longest_segment_ms", longest_ms)
        set_once(self, "limits_timestamps", nearest < INT64_MAX and not is_append_time)
        set_once(self, "codec", _CODECS[self.compression_type])

    def level_of(self, codec: int) -> int | None:
        """The compression level for a codec; None if it has none."""
        return {
            Codec.GZIP: self.compression_gzip_level,
            Codec.LZ4: self.compression_lz4_level,
            Codec.ZSTD: self.compression_zstd_level,
        }.get(Codec(codec))

    def jitter_ms(self, segment: str) -> int:
        """How much earlier a segment is closed; always the same for one name."""
        spread = min(self.segment_jitter_ms, self.segment_ms)
        return crc32(segment.encode()) % spread if spread else 0

    @classmethod
    def from_properties(
        cls, broker: Mapping[str, str] | None = None, topic: Mapping[str, str] | None = None
    ) -> "LogConfig":
        """The settings of a topic with these overrides on a broker with these properties. Unknown
        names are skipped; ValueError for an invalid value."""
        parsed = {
            name.replace(".", "_"): TOPIC_KEYS[name].parse(text)
            for name, text in effective_values(broker or {}, topic or {}).items()
        }
        for side in ("message_timestamp_before_max_ms", "message_timestamp_after_max_ms"):
            if parsed[side] == INT64_MAX:  # the older setting is for both
                parsed[side] = parsed["message_timestamp_difference_max_ms"]
        return cls(**{each.name: parsed[each.name] for each in fields(cls) if each.init})

    @classmethod
    def from_sound_properties(
        cls, broker: Mapping[str, str], topic: Mapping[str, str]
    ) -> "LogConfig":
        """As `from_properties`, but invalid values of the topic are skipped."""
        return cls.from_properties(
            broker, {name: text for name, text in topic.items() if _is_sound(name, text)}
        )


def _is_sound(name: str, text: str) -> bool:
    try:
        if name in TOPIC_KEYS:
            TOPIC_KEYS[name].parse(text)
    except ValueError:
        return False
    return True


def effective_values(broker: Mapping[str, str], topic: Mapping[str, str]) -> dict[str, str]:
    """The text in effect of every topic setting: the topic's, else the broker's, else Kafka's."""
    texts = {}
    for key in TOPIC_KEYS.values():
        text = topic.get(key.name)
        if text is None:  # an empty one is a list without words: neither delete nor compact
            text = _broker_value(key, broker) or key.default
        texts[key.name] = text
    return texts


def _broker_value(key: TopicKey, broker: Mapping[str, str]) -> str | None:
    for broker_key in key.broker_keys:
        text = broker.get(broker_key.name)
        if text is None:
            continue
        if key.least == -1 and int(text) < 0:
            return "-1"  # any number below zero is no limit
        return text if broker_key.factor == 1 else str(int(text) * broker_key.factor)
    return None


class Kept(NamedTuple):
    """A setting of Kafka that this broker accepts, stores and returns, and that has no effect."""

    type: ConfigType
    pattern: str
    default: str = ""
    broker_key: str = ""
    """The broker setting that is its default, if there is one."""


_REPLICAS = r"\*|(\d+:\d+(,\d+:\d+)*)?"
_LOCAL = r"-[12]|\d{1,18}"
_OLD_VERSIONS = r"0\.8\.[0-2]|0\.9\.0|0\.10\.[0-2]|0\.11\.0"
_VERSIONS = r"1\.[01]|2\.[0-8]|3\.\d|4\.0"
WITHOUT_EFFECT: Mapping[str, Kept] = {
    "follower.replication.throttled.replicas": Kept(ConfigType.LIST, _REPLICAS),
    "leader.replication.throttled.replicas": Kept(ConfigType.LIST, _REPLICAS),
    "local.retention.bytes": Kept(ConfigType.LONG, _LOCAL, "-2", "log.local.retention.bytes"),
    "local.retention.ms": Kept(ConfigType.LONG, _LOCAL, "-2", "log.local.retention.ms"),
    "message.downconversion.enable": Kept(
        ConfigType.BOOLEAN, "true|false", "true", "log.message.downconversion.enable"
    ),
    "message.format.version": Kept(
        ConfigType.STRING, rf"({_OLD_VERSIONS}|{_VERSIONS})(\.\d+|-IV\d+)?", "3.0-IV1",
        "log.message.format.version",
    ),
    "remote.log.copy.disable": Kept(ConfigType.BOOLEAN, "false", "false"),
    "remote.log.delete.on.disable": Kept(ConfigType.BOOLEAN, "false", "false"),
    "remote.storage.enable": Kept(ConfigType.BOOLEAN, "false", "false"),
}  # fmt: skip
"""Records are always stored and served as v2, there is no tiered storage to turn on, and replicas
are not throttled yet."""
