"""The settings a topic may have, as administrators meet them: rules for changes, and documentation.

Names, ranges, defaults and broker counterparts are those of the log (`brokerd.log.log_config`);
here are the words that explain them and the four operations that change them. Values are text, as
in ZooKeeper and on the wire.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from brokerd.cluster.config_changes import apply_operations
from brokerd.cluster.requests import ConfigChange
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_config import TOPIC_KEYS, effective_values


class Kept(NamedTuple):
    """A setting of Kafka that this broker accepts, stores and returns, and that has no effect."""

    kind: str
    pattern: str
    default: str = ""
    broker_key: str = ""
    """The broker setting that is its default, if there is one."""


_REPLICAS = r"\*|(\d+:\d+(,\d+:\d+)*)?"
_OLD_VERSIONS = r"0\.8\.[0-2]|0\.9\.0|0\.10\.[0-2]|0\.11\.0"
_VERSIONS = r"1\.[01]|2\.[0-8]|3\.\d|4\.0"
WITHOUT_EFFECT: Mapping[str, Kept] = {
    "follower.replication.throttled.replicas": Kept("list", _REPLICAS),
    "leader.replication.throttled.replicas": Kept("list", _REPLICAS),
    "local.retention.bytes": Kept("int", r"-[12]|\d{1,18}", "-2", "log.local.retention.bytes"),
    "local.retention.ms": Kept("int", r"-[12]|\d{1,18}", "-2", "log.local.retention.ms"),
    "message.downconversion.enable": Kept(
        "bool", "true|false", "true", "log.message.downconversion.enable"
    ),
    "message.format.version": Kept(
        "string", rf"({_OLD_VERSIONS}|{_VERSIONS})(\.\d+|-IV\d+)?", "3.0-IV1",
        "log.message.format.version",
    ),
    "remote.log.copy.disable": Kept("bool", "false", "false"),
    "remote.log.delete.on.disable": Kept("bool", "false", "false"),
    "remote.storage.enable": Kept("bool", "false", "false"),
}  # fmt: skip
"""Records are always stored and served as v2, there is no tiered storage to turn on, and replicas
are not throttled yet."""
TEXT_MAX = 128 * 1024
"""Well below what a node of ZooKeeper holds, in which a character takes up to six bytes."""
KEPT_DOCUMENTATION = "Kept for Kafka and its tools; it has no effect on this broker."

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
    "message.timestamp.difference.max.ms": "How far a record's own time may lie from the broker's "
    "clock (CreateTime only), where before and after have no limits of their own.",
    "message.timestamp.type": "Whether a record has the time its producer gave it (CreateTime) or "
    "the time it was stored at (LogAppendTime).",
    "min.cleanable.dirty.ratio": "What share of a compacted log must be uncleaned before it is "
    "compacted.",
    "min.compaction.lag.ms": "The shortest time a record of a compacted topic stays uncompacted.",
    "min.insync.replicas": "How many replicas must have a record before a producer that waits for "
    "all of them is answered.",
    "preallocate": KEPT_DOCUMENTATION,
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


def check_topic_config(config: Mapping[str, str], broker: Mapping[str, str] | None = None) -> None:
    """Raises INVALID_CONFIG for the first setting that is unknown or has a bad value, or that does
    not go with another, be it one of the broker's."""
    if sum(map(len, config.values())) > TEXT_MAX:
        message = f"The settings of a topic may have {TEXT_MAX} characters together"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    for name, text in config.items():
        if name in WITHOUT_EFFECT:
            _check_kept(name, text)
            continue
        key = TOPIC_KEYS.get(name)
        if key is None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
        try:
            key.parse(text)
        except ValueError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value: {error}") from None
    values = effective_values(broker or {}, config)
    lowest, highest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if int(lowest) > int(highest):
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"min.compaction.lag.ms ({lowest}) must not be above max.compaction.lag.ms ({highest})",
        )


def _check_kept(name: str, text: str) -> None:
    kept = WITHOUT_EFFECT[name]
    plain = text.strip().lower() if kept.kind == "bool" else text.replace(" ", "")
    if not re.fullmatch(kept.pattern, plain, re.ASCII):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value {text} for configuration {name}")


def apply_changes(
    config: Mapping[str, str],
    changes: Sequence[ConfigChange],
    broker: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The config after all changes, checked on a broker with these settings. Raises KafkaError and
    then nothing is changed."""
    changed = apply_operations(config, changes, _list_default)
    check_topic_config(changed, broker)
    return changed


def _list_default(name: str) -> str | None:
    if name in WITHOUT_EFFECT:
        return "" if WITHOUT_EFFECT[name].kind == "list" else None
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
    return key.default if key.kind == "list" else None
