"""The facts of the batch that a record is in, from the batch's header. Pure.

For users who see masked records the size is rounded and the CRC is left out: with either they could
check a guess at masked data.
"""

from dataclasses import dataclass

from brokerd.protocol.compression import codec_name
from brokerd.protocol.records import BatchHeader
from monitoring.records.mask_record import rounded_size


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """The header of a batch as pages show it; None = the batch has no such value, or it is hidden.

    `record_count` can be less than `offset_count`: compaction removes records.
    """

    base_offset: int
    last_offset: int
    record_count: int
    size_bytes: int
    is_masked: bool
    codec: str
    largest_timestamp_ms: int
    is_log_append_time: bool
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    is_transactional: bool
    is_control: bool
    leader_epoch: int | None
    crc: str | None

    @property
    def offset_count(self) -> int:
        return self.last_offset - self.base_offset + 1


def batch_facts(header: BatchHeader, *, is_masked: bool) -> BatchFacts:
    """The facts of a batch; `is_masked`: parts of the topic's records are masked for the user."""
    size_bytes = header.size_bytes
    return BatchFacts(
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        record_count=header.count,
        size_bytes=rounded_size(size_bytes) if is_masked else size_bytes,
        is_masked=is_masked,
        codec=codec_name(header.codec),
        largest_timestamp_ms=header.max_timestamp,
        is_log_append_time=header.is_log_append_time,
        producer_id=_known(header.producer_id),
        producer_epoch=_known(header.producer_epoch),
        base_sequence=_known(header.base_sequence),
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        leader_epoch=_known(header.leader_epoch),
        crc=None if is_masked else f"{header.crc:08x}",
    )


def _known(number: int) -> int | None:
    """The number; None for −1, which means "none" in a header."""
    return number if number >= 0 else None
