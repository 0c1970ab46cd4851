"""The settings a topic may have, as administrators meet them: rules for changes, and documentation.

Names, ranges, defaults and broker counterparts are those of the log (`brokerd.log.log_config`);
here are the words that explain them and the four operations that change them. Values are text, as
in ZooKeeper and on the wire.
"""

from collections.abc import Mapping, Sequence

from brokerd.cluster.config_changes import apply_operations
from brokerd.cluster.requests import ConfigChange
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_config import TOPIC_KEYS

WITHOUT_EFFECT = frozenset({"message.format.version", "message.downconversion.enable"})
"""Taken and kept for tools of older Kafka versions; records are always stored and served as v2."""

DOCUMENTATION: Mapping[str, str] = {
    "cleanup.policy": "What is done with old segments: delete removes them by age and size, "
    "compact keeps the last record of each key, both together do both.",
    "compression.gzip.level": "How hard gzip tries where compression.type is gzip: 1 to 9, or -1 "
    "for its default.",
    "compression.lz4.level": "How hard lz4 tries where compression.type is lz4: 1 to 17.",
    "compression.zstd.level": "How hard zstd tries where compression.type is zstd: -131072 to 22.",
    "compression.type": "The codec that batches are stored with. producer keeps the codec they "
    "came with.",
    "delete.retention.ms": "How long a compacted topic keeps a delete marker, so that slow readers "
    "still see it.",
    "file.delete.delay.ms": "How long the files of a removed segment stay on disk.",
    "flush.messages": "After how many messages the log is forced to disk. By default the system "
    "decides.",
    "flush.ms": "After what time the log is forced to disk. By default the system decides.",
    "index.interval.bytes": "How many bytes of messages lie between two entries of the offset "
    "index.",
    "max.compaction.lag.ms": "The longest time a record of a compacted topic stays uncompacted.",
    "max.message.bytes": "The largest batch of records taken, as stored (after compression).",
    "message.timestamp.after.max.ms": "How far a record's own time may lie after the broker's "
    "clock (CreateTime only).",
    "message.timestamp.before.max.ms": "How far a record's own time may lie before the broker's "
    "clock (CreateTime only).",
    "message.timestamp.type": "Whether a record has the time its producer gave it (CreateTime) or "
    "the time it was stored at (LogAppendTime).",
    "min.cleanable.dirty.ratio": "What share of a compacted log must be uncleaned before it is "
    "compacted.",
    "min.compaction.lag.ms": "The shortest time a record of a compacted topic stays uncompacted.",
    "min.insync.replicas": "How many replicas must have a record before a producer that waits for "
    "all of them is answered.",
    "preallocate": "Whether the space of a new segment is reserved on disk when it is made.",
    "retention.bytes": "How large a partition may grow before its oldest segments are deleted. "
    "-1: no limit.",
    "retention.ms": "How old a segment's newest record may be before the segment is deleted. "
    "-1: no limit.",
    "segment.bytes": "How large a segment file may grow before the next one is begun.",
    "segment.index.bytes": "How large a segment's index may grow before the next one is begun.",
    "segment.jitter.ms": "How much earlier than segment.ms a segment may end, at random, so that "
    "segments do not all end at once.",
    "segment.ms": "After what time the next segment is begun even if this one is not full.",
    "unclean.leader.election.enable": "Whether a replica that is not in sync may lead when no "
    "other can, losing records.",
}


def check_topic_config(config: Mapping[str, str]) -> None:
    """Raises INVALID_CONFIG for the first setting that is unknown or has a bad value."""
    for name, text in config.items():
        if name in WITHOUT_EFFECT:
            continue
        key = TOPIC_KEYS.get(name)
        if key is None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
        try:
            key.parse(text)
        except ValueError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value: {error}") from None
    lowest = config.get("min.compaction.lag.ms")
    highest = config.get("max.compaction.lag.ms")
    if lowest and highest and int(lowest) > int(highest):
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"min.compaction.lag.ms ({lowest}) must not be above max.compaction.lag.ms ({highest})",
        )


def apply_changes(config: Mapping[str, str], changes: Sequence[ConfigChange]) -> dict[str, str]:
    """The config after all changes, checked. Raises KafkaError and then nothing is changed."""
    changed = apply_operations(config, changes, _list_default)
    check_topic_config(changed)
    return changed


def _list_default(name: str) -> str | None:
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
    return key.default if key.kind == "list" else None
