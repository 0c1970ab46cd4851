"""The facts of the batch that a record is in, from the batch's header. Pure.

For users who see masked records the size is rounded, as sizes are everywhere for them, and there is
no CRC: a guess at masked data could be checked with it.
"""

from dataclasses import dataclass

from brokerd.protocol.compression import codec_name
from brokerd.protocol.records import BatchHeader
from monitoring.records.mask_record import rounded_size


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """The header of a batch as pages show it; None = the batch has none, or it is masked.

    `records` may be fewer than the batch has offsets: compaction removes records.
    """

    base_offset: int
    last_offset: int
    records: int
    size_bytes: int
    is_masked: bool
    codec: str
    largest_timestamp_ms: int
    is_append_time: bool
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    is_transactional: bool
    is_control: bool
    leader_epoch: int | None
    crc: str | None

    @property
    def offsets(self) -> int:
        return self.last_offset - self.base_offset + 1


def batch_facts(header: BatchHeader, is_masked: bool) -> BatchFacts:
    """The facts of a batch, for a user for whom parts of the topic's records are masked or not."""
    size_bytes = header.size_bytes
    return BatchFacts(
        header.base_offset,
        header.last_offset,
        header.count,
        rounded_size(size_bytes) if is_masked else size_bytes,
        is_masked,
        codec_name(header.codec),
        header.max_timestamp,
        header.is_log_append_time,
        _known(header.producer_id),
        _known(header.producer_epoch),
        _known(header.base_sequence),
        header.is_transactional,
        header.is_control,
        _known(header.leader_epoch),
        None if is_masked else f"{header.crc:08x}",
    )


def _known(number: int) -> int | None:
    """The number; None for −1, which means "none" in a header."""
    return number if number >= 0 else None
