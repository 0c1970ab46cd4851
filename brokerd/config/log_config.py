"""The settings of one partition log: topic-level names over the broker's defaults over Kafka's.

`TOPIC_KEYS` is the one table of topic-level settings: their type, range, default, and the broker
settings that give the topic its default (the first one that is set wins; a factor turns hours and
minutes into milliseconds). `LogConfig` holds the ones that the broker acts on, named as the topic
setting with underscores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, NamedTuple
from zlib import crc32

from brokerd.config import values
from brokerd.integer_ranges import INT32_MAX, INT64_MAX
from brokerd.protocol.compression import Codec

Kind = Literal["int", "bool", "float", "string", "list"]


class BrokerKey(NamedTuple):
    """A broker setting that is the default of a topic setting; `factor` converts its unit."""

    name: str
    factor: int = 1


class TopicKey(NamedTuple):
    """One topic-level setting. `choices` bounds strings and list items, `least`/`most` numbers."""

    name: str
    kind: Kind
    default: str
    broker_keys: tuple[BrokerKey, ...] = ()
    least: int = 0
    most: int = INT64_MAX
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

    def _parser(self, text: str) -> values.Parser:
        if self.kind == "bool":
            return values.boolean
        if self.kind == "float":
            return values.ratio
        if self.kind == "int":
            also = self.besides
            if also is None:
                return values.integer(self.least, self.most)
            return values.integer_or(also, self.least, self.most)
        if self.kind == "string":
            return values.one_of(*self.choices)
        return values.words_of(*self.choices) if text.strip() else values.words


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
        TopicKey("cleanup.policy", "list", "delete", _broker("log.cleanup.policy"),
                 choices=("delete", "compact")),
        TopicKey("compression.gzip.level", "int", "-1", _broker("compression.gzip.level"),
                 least=1, most=9, besides=-1),
        TopicKey("compression.lz4.level", "int", "9", _broker("compression.lz4.level"),
                 least=1, most=17),
        TopicKey("compression.type", "string", "producer", _broker("compression.type"),
                 choices=tuple(_CODECS)),
        TopicKey("compression.zstd.level", "int", "3", _broker("compression.zstd.level"),
                 least=-131_072, most=22),
        TopicKey("delete.retention.ms", "int", "86400000",
                 _broker("log.cleaner.delete.retention.ms")),
        TopicKey("file.delete.delay.ms", "int", "60000", _broker("log.segment.delete.delay.ms")),
        TopicKey("flush.messages", "int", str(INT64_MAX), _broker("log.flush.interval.messages"),
                 least=1),
        TopicKey("flush.ms", "int", str(INT64_MAX),
                 _broker("log.flush.interval.ms", "log.flush.scheduler.interval.ms")),
        TopicKey("index.interval.bytes", "int", "4096", _broker("log.index.interval.bytes"),
                 most=INT32_MAX),
        TopicKey("max.compaction.lag.ms", "int", str(INT64_MAX),
                 _broker("log.cleaner.max.compaction.lag.ms"), least=1),
        TopicKey("max.message.bytes", "int", "1048588", _broker("message.max.bytes"),
                 most=INT32_MAX),
        TopicKey("message.timestamp.after.max.ms", "int", str(INT64_MAX),
                 _broker("log.message.timestamp.after.max.ms")),
        TopicKey("message.timestamp.before.max.ms", "int", str(INT64_MAX),
                 _broker("log.message.timestamp.before.max.ms")),
        TopicKey("message.timestamp.difference.max.ms", "int", str(INT64_MAX),
                 _broker("log.message.timestamp.difference.max.ms")),
        TopicKey("message.timestamp.type", "string", "CreateTime",
                 _broker("log.message.timestamp.type"), choices=("CreateTime", "LogAppendTime")),
        TopicKey("min.cleanable.dirty.ratio", "float", "0.5",
                 _broker("log.cleaner.min.cleanable.ratio"), most=1),
        TopicKey("min.compaction.lag.ms", "int", "0", _broker("log.cleaner.min.compaction.lag.ms")),
        TopicKey("min.insync.replicas", "int", "1", _broker("min.insync.replicas"), least=1,
                 most=INT32_MAX),
        TopicKey("preallocate", "bool", "false", _broker("log.preallocate")),
        TopicKey("retention.bytes", "int", "-1", _broker("log.retention.bytes"), least=-1),
        TopicKey("retention.ms", "int", "604800000",
                 (BrokerKey("log.retention.ms"), BrokerKey("log.retention.minutes", 60_000),
                  BrokerKey("log.retention.hours", _HOUR_MS)), least=-1),
        TopicKey("segment.bytes", "int", "1073741824", _broker("log.segment.bytes"), least=14,
                 most=INT32_MAX),
        TopicKey("segment.index.bytes", "int", "10485760", _broker("log.index.size.max.bytes"),
                 least=4, most=INT32_MAX),
        TopicKey("segment.jitter.ms", "int", "0",
                 (BrokerKey("log.roll.jitter.ms"), BrokerKey("log.roll.jitter.hours", _HOUR_MS))),
        TopicKey("segment.ms", "int", "604800000",
                 (BrokerKey("log.roll.ms"), BrokerKey("log.roll.hours", _HOUR_MS)), least=1),
        TopicKey("unclean.leader.election.enable", "bool", "false",
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
