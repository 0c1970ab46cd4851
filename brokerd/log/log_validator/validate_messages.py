"""Chooses and runs the checks of a producer's batch, and says what must be done before the append
(Kafka's LogValidator.validateMessagesAndAssignOffsets; offsets come in `assign_offsets`).

`validate_batch` always checks the header and the CRC. The records are checked on a compacted topic
(each needs a key); if the topic limits timestamps or stores with another codec; if the header is
odd (`has_odd_header`); and always with `brokerd.validate.records=all`. A small batch is checked at
once; all else is `RecordWork` for a thread (`append_queues`).
"""

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, InvalidProduceRecordsError, KafkaError
from brokerd.log.log_validator.validate_and_recompress import RecordWork, validate_and_recompress
from brokerd.log.log_validator.validate_records import Rules
from brokerd.log.log_validator.validate_size_and_crc import has_odd_header, validate_batch
from brokerd.protocol.compression import Codec, TooManyBytes
from brokerd.protocol.records import BatchHeader

VALIDATE_ALL = "all"
ZSTD_FROM = 7
AT_ONCE_RECORDS = 256
AT_ONCE_BYTES = 16 << 10
AT_ONCE_DECOMPRESSED_BYTES = 256 << 10
"""Limits of what is checked at once: it takes half a millisecond at most."""


def may_validate_records(validates_all: bool, log: LogConfig) -> bool:
    """Whether the records of batches for a log with these settings are checked, or may be."""
    return log.is_compacted or log.limits_timestamps or log.codec is not None or validates_all


def codec_max(version: int) -> Codec:
    """The highest codec that a Produce of this version may have."""
    return Codec.ZSTD if version >= ZSTD_FROM else Codec.LZ4


def validate_messages(
    records: memoryview,
    version: int,
    validates_all: bool,
    log: LogConfig,
    topic_partition: str,
    now_ms: int,
) -> RecordWork | None:
    """Checks one batch; returns the work to do before it is appended, if any. Raises KafkaError."""
    header = validate_batch(records, log.max_message_bytes)
    if header.codec > codec_max(version):
        raise InvalidProduceRecordsError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"Produce {version} may not carry zstd, Produce {ZSTD_FROM} may",
        )
    if header.is_transactional:
        raise KafkaError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions are not served yet"
        )
    return validate_records_if_needed(header, records, validates_all, log, topic_partition, now_ms)


def validate_records_if_needed(
    header: BatchHeader,
    records: memoryview,
    validates_all: bool,
    log: LogConfig,
    topic_partition: str,
    now_ms: int,
) -> RecordWork | None:
    """The second half of `validate_messages`: its records if necessary; the header is valid."""
    if not _needs_record_check(header, validates_all, log):
        return None
    work = _work(header, log, topic_partition, now_ms)
    if work.codec != header.codec or header.count > AT_ONCE_RECORDS:
        return work
    if header.codec and len(records) > AT_ONCE_BYTES:
        return work
    try:
        validate_and_recompress(records, work, AT_ONCE_DECOMPRESSED_BYTES)
    except TooManyBytes:
        return work
    return None


def _needs_record_check(header: BatchHeader, validates_all: bool, log: LogConfig) -> bool:
    return (
        log.is_compacted
        or log.limits_timestamps
        or log.codec not in (None, header.codec)
        or validates_all
        or has_odd_header(header)
    )


def _work(header: BatchHeader, log: LogConfig, topic_partition: str, now_ms: int) -> RecordWork:
    codec = header.codec if log.codec is None else log.codec
    limits_ms = None
    if log.limits_timestamps:
        limits_ms = (
            now_ms - log.message_timestamp_before_max_ms,
            now_ms + log.message_timestamp_after_max_ms,
        )
    rules = Rules(log.is_compacted, limits_ms, topic_partition)
    level = log.level_of(codec)
    return RecordWork(codec, level, rules, log.is_append_time, log.max_message_bytes)
