"""What a look at one log finds: how much of it is dirty."""

from brokerd.errors import KafkaError
from brokerd.log.cleaner import plan
from brokerd.log.partition_log import PartitionLog


def dirty_part(
    log: PartitionLog, checkpoint: int, stable_offset: int, now_ms: int, *, may_block: bool = True
) -> plan.Dirty:
    """The dirty part below `stable_offset`. Raises OSError, KafkaError; NotInPageCache if not
    may_block and it would wait for the disk."""
    with_times = plan.needs_timestamps(log.config)
    closed = [
        plan.ClosedSegment(
            each.base_offset, log.end_of_segment(each), each.size_bytes,
            each.first_timestamp() if with_times else -1,
            each.largest_timestamp(may_block=may_block)[0] if with_times else -1,
        )
        for each in log.closed_segments()
    ]  # fmt: skip
    return plan.dirty_part(
        closed, log.config, checkpoint=checkpoint, stable_offset=stable_offset, now_ms=now_ms
    )


def dirty_bytes(log: PartitionLog, checkpoint: int, now_ms: int) -> int:
    """How much of a log is dirty; all of one that cannot be read."""
    try:
        return dirty_part(log, checkpoint, log.high_watermark, now_ms).dirty_bytes
    except (OSError, KafkaError):
        return log.size_bytes
