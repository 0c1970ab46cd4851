"""What each compaction worker gets of the limits for all."""

import pytest

from brokerd.config.broker_config import parse
from brokerd.log.cleaner.cleaner_config import cleaner_limits

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"


def test_each_of_many_workers_reads_enough_at_once_for_a_header() -> None:
    small = FILE + "log.cleaner.threads=20\nlog.cleaner.io.buffer.size=1024\n"
    assert cleaner_limits(parse(small)).io_buffer_bytes == 64 << 10
    large = FILE + "log.cleaner.threads=2\nlog.cleaner.io.buffer.size=1048576\n"
    assert cleaner_limits(parse(large)).io_buffer_bytes == 512 << 10


def test_a_worker_is_given_two_gibibytes_for_its_keys_at_most_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = "log.cleaner.threads=2\nlog.cleaner.dedupe.buffer.size="
    assert cleaner_limits(parse(f"{FILE}{setting}{2**32 - 2}\n")).map_bytes == 2**31 - 1
    assert caplog.messages == []
    assert cleaner_limits(parse(f"{FILE}{setting}{2**63 - 1}\n")).map_bytes == 2**31 - 1
    assert "log.cleaner.dedupe.buffer.size: " in caplog.text
