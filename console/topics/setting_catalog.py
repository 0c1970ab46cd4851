"""What the settings of topics mean: texts, suggested values and choices, by section. Pure.

The texts are the console's own, since Kafka's clients for Python do not read the brokers' texts. A
setting without an entry is shown without a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
MIB, GIB = 1 << 20, 1 << 30
# The titles of the sections of the form. Settings that are changed most come first.
RETENTION, COMPACTION, WRITING = _("Retention"), _("Compaction"), _("Writing")
SEGMENTS, REPLICATION, OTHER = _("Segments"), _("Replication"), _("Other")
SECTIONS = (RETENTION, COMPACTION, WRITING, SEGMENTS, REPLICATION, OTHER)
TRUE_FALSE = ("true", "false")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """`suggestions`: common values. `choices`: all values, if there are few."""

    section: Promise
    text: Promise | str = ""
    suggestions: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


def _numbers(*values: int) -> tuple[str, ...]:
    return tuple(map(str, values))


_DURATIONS = _numbers(HOUR_MS, DAY_MS, 7 * DAY_MS)
_RETENTIONS = (*_DURATIONS, *_numbers(30 * DAY_MS, -1))
UNKNOWN = SettingInfo(OTHER)
SETTINGS: Mapping[str, SettingInfo] = {
    "retention.ms": SettingInfo(
        RETENTION,
        _("How old the newest record of a segment may be before the segment is deleted."),
        _RETENTIONS,
    ),
    "retention.bytes": SettingInfo(
        RETENTION,
        _("How large a partition may be before its oldest segments are deleted."),
        _numbers(GIB, 10 * GIB, 100 * GIB, -1),
    ),
    "cleanup.policy": SettingInfo(
        RETENTION,
        _(
            "What is done with old segments: “delete” removes them by age and size, “compact” "
            "keeps the newest record of each key."
        ),
        choices=("delete", "compact", "compact,delete"),
    ),
    "file.delete.delay.ms": SettingInfo(
        RETENTION, _("How long the files of a deleted segment stay on disk.")
    ),
    "delete.retention.ms": SettingInfo(
        COMPACTION,
        _("How long a compacted topic keeps delete markers (records without a value)."),
        _DURATIONS,
    ),
    "min.cleanable.dirty.ratio": SettingInfo(
        COMPACTION,
        _("The share of a log that must be uncompacted before it is compacted."),
        ("0.1", "0.5"),
    ),
    "min.compaction.lag.ms": SettingInfo(
        COMPACTION, _("The shortest time that a record stays uncompacted.")
    ),
    "max.compaction.lag.ms": SettingInfo(
        COMPACTION,
        _("The longest time that a record stays uncompacted."),
        _numbers(DAY_MS, 7 * DAY_MS, 2**63 - 1),
    ),
    "min.insync.replicas": SettingInfo(
        WRITING,
        _("How many replicas must have a record before a producer with acks=all gets its answer."),
        ("1", "2"),
    ),
    "max.message.bytes": SettingInfo(
        WRITING,
        _("The largest batch of records that is accepted, after compression."),
        _numbers(MIB, 5 * MIB, 10 * MIB),
    ),
    "compression.type": SettingInfo(
        WRITING,
        _("The codec of stored batches. “producer” keeps the codec of the producer."),
        choices=("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
    ),
    "compression.gzip.level": SettingInfo(WRITING, _("The level, if compression.type is gzip.")),
    "compression.lz4.level": SettingInfo(WRITING, _("The level, if compression.type is lz4.")),
    "compression.zstd.level": SettingInfo(WRITING, _("The level, if compression.type is zstd.")),
    "message.timestamp.type": SettingInfo(
        WRITING,
        _("The time of a record: when the producer created it, or when the broker appended it."),
        choices=("CreateTime", "LogAppendTime"),
    ),
    "message.timestamp.before.max.ms": SettingInfo(
        WRITING, _("How far the time of a record may be before the broker's clock.")
    ),
    "message.timestamp.after.max.ms": SettingInfo(
        WRITING, _("How far the time of a record may be after the broker's clock.")
    ),
    "message.timestamp.difference.max.ms": SettingInfo(
        WRITING, _("How far the time of a record may differ from the broker's clock.")
    ),
    "message.format.version": SettingInfo(WRITING, _("Has no effect since Kafka 3.0.")),
    "message.downconversion.enable": SettingInfo(
        WRITING, _("Whether old consumers get batches in their old format."), choices=TRUE_FALSE
    ),
    "segment.bytes": SettingInfo(
        SEGMENTS,
        _("The size at which a new segment begins. Retention deletes whole segments."),
        _numbers(64 * MIB, 256 * MIB, GIB),
    ),
    "segment.ms": SettingInfo(
        SEGMENTS,
        _("The age at which a new segment begins, even if the old one is not full."),
        _DURATIONS,
    ),
    "segment.jitter.ms": SettingInfo(
        SEGMENTS, _("By how much segment.ms is shortened at random, so that not all end together.")
    ),
    "segment.index.bytes": SettingInfo(SEGMENTS, _("The largest size of the index of a segment.")),
    "index.interval.bytes": SettingInfo(
        SEGMENTS, _("How many bytes of records are between two entries of the offset index.")
    ),
    "flush.messages": SettingInfo(
        SEGMENTS, _("After how many records the log is forced to disk. Kafka advises the default.")
    ),
    "flush.ms": SettingInfo(
        SEGMENTS, _("After which time the log is forced to disk. Kafka advises the default.")
    ),
    "preallocate": SettingInfo(
        SEGMENTS,
        _("Whether the file of a new segment gets its full size at once."),
        choices=TRUE_FALSE,
    ),
    "unclean.leader.election.enable": SettingInfo(
        REPLICATION,
        _("Whether a replica that is not in sync may become leader. That loses records."),
        choices=TRUE_FALSE,
    ),
    "leader.replication.throttled.replicas": SettingInfo(
        REPLICATION, _("Replicas that are throttled at the leader: partition:broker, or *.")
    ),
    "follower.replication.throttled.replicas": SettingInfo(
        REPLICATION, _("Replicas that are throttled at the follower: partition:broker, or *.")
    ),
    "remote.storage.enable": SettingInfo(
        RETENTION, _("Whether closed segments are copied to tiered storage."), choices=TRUE_FALSE
    ),
    "local.retention.ms": SettingInfo(
        RETENTION,
        _("With tiered storage: how long a segment stays on local disks. −2: retention.ms."),
    ),
    "local.retention.bytes": SettingInfo(
        RETENTION, _("With tiered storage: how much stays on local disks. −2: retention.bytes.")
    ),
    "remote.log.copy.disable": SettingInfo(
        RETENTION, _("Whether tiered storage is only read from now on."), choices=TRUE_FALSE
    ),
    "remote.log.delete.on.disable": SettingInfo(
        RETENTION,
        _("Whether tiered segments are deleted when tiering is turned off."),
        choices=TRUE_FALSE,
    ),
}


def setting_info(name: str) -> SettingInfo:
    return SETTINGS.get(name, UNKNOWN)
