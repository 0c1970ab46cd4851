"""The facts of a record's batch, and what of them is hidden where records are masked."""

import pytest

from brokerd.protocol.records import LOG_APPEND_TIME, TRANSACTIONAL, BatchHeader
from console.records.batch_facts import batch_facts

HEADER = BatchHeader(100, 988, 4, 2, 0xE41C07AA, 4, 11, 5_000, 9_000, 7, 2, 30, 10)


def test_the_facts_are_those_of_the_header():
    facts = batch_facts(HEADER, is_masked=False)
    assert (facts.base_offset, facts.last_offset, facts.offset_count, facts.record_count) == (
        100,
        111,
        12,
        10,
    )
    assert (facts.size_bytes, facts.codec, facts.crc) == (1000, "zstd", "e41c07aa")
    assert (facts.producer_id, facts.producer_epoch, facts.base_sequence) == (7, 2, 30)
    assert facts.leader_epoch == 4
    assert (facts.is_log_append_time, facts.is_transactional, facts.is_control) == (False,) * 3


@pytest.mark.parametrize(
    ("flag", "name"), [(LOG_APPEND_TIME, "is_log_append_time"), (TRANSACTIONAL, "is_transactional")]
)
def test_flags_of_the_header_are_reported(flag, name):
    assert getattr(batch_facts(HEADER._replace(attributes=flag), is_masked=False), name)


def test_a_batch_without_idempotence_has_no_producer():
    plain = HEADER._replace(producer_id=-1, producer_epoch=-1, base_sequence=-1, leader_epoch=-1)
    facts = batch_facts(plain, is_masked=False)
    assert (facts.producer_id, facts.producer_epoch, facts.base_sequence) == (None, None, None)
    assert facts.leader_epoch is None


def test_masked_readers_get_a_rounded_size_and_no_checksum():
    facts = batch_facts(HEADER, is_masked=True)
    assert (facts.size_bytes, facts.is_masked, facts.crc) == (1024, True, None)
