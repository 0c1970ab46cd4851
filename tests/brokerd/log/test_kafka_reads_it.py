"""Apache Kafka's own dump tool reads what brokerd wrote, and finds nothing to complain about."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.cleaner.support import COMPACTED, CompactedLog, Pair, keyed
from tests.brokerd.log.support import NOW_MS, batch, batches, headers, open_log, reopen, segments_of
from tests.support.kafka import dump_of_log

CONFIG = LogConfig(segment_bytes=60_000, index_interval_bytes=1000)

pytestmark = pytest.mark.kafka


def assert_clean(directory: Path, log: UnifiedLog, *, with_gaps: bool = False) -> str:
    """What the dump tool says; of a compacted log (also Kafka's own) it lists the gaps."""
    text = dump_of_log(directory)
    for complaint in ("Mismatch", "mismatch", "Non-consecutive", "invalid bytes", "isvalid: false",
                      "Exception", "not found", "ERROR"):  # fmt: skip
        assert complaint not in text or (with_gaps and complaint == "Non-consecutive"), text
    stored = list(headers(log))
    assert len(re.findall("isvalid: true", text)) == len(stored)
    assert len(re.findall(r"(?m)^\| offset:", text)) == sum(header.count for header in stored)
    return text


def fill(log: UnifiedLog) -> None:
    sequence = 0
    for i in range(150):
        group = []
        for j in range(i % 4 + 1):
            count = (i + j) % 7 + 1
            at_ms = NOW_MS + i * 10 - (50 if j == 2 else 0)  # time does not only rise
            producer = (-1, -1, -1)
            if j == 1:
                producer = (4000, 2, sequence)
                sequence += count
            codec = (i + j) % 5
            group.append(
                batch(count, size=i * 11 % 900, codec=codec, timestamp_ms=at_ms, producer=producer)
            )
        assert all(result.error is None for result in log.append(group, i // 60, NOW_MS))


def test_a_rolled_compressed_idempotent_log_is_clean_at_every_stage(tmp_path: Path) -> None:
    log = open_log(tmp_path, CONFIG)
    fill(log)
    assert len(segments_of(log)) >= 3
    live = assert_clean(tmp_path, log)
    assert "compresscodec: zstd" in live
    assert "producerId: 4000" in live

    log = reopen(log)
    log.append([batch(3, size=2000)], 5, NOW_MS + 10_000)
    log.close()
    stopped = assert_clean(tmp_path, log)
    assert "producerId: 4000 producerEpoch: 2 " in stopped
    assert "partitionLeaderEpoch: 5" in stopped
    sane = dump_of_log(tmp_path, "--index-sanity-check")
    indexes = [path for path in tmp_path.glob("*index") if path.stat().st_size]
    assert sane.count("passed sanity check") == len(indexes)


def test_recovered_truncated_and_replicated_logs_are_clean(tmp_path: Path) -> None:
    leader = open_log(tmp_path / "leader", CONFIG)
    fill(leader)
    recovered = reopen(leader, clean=False)
    last = segments_of(recovered)[-1]
    path = tmp_path / "leader" / f"{last.base_offset:020d}.log"
    with path.open("ab") as file:
        file.write(bytes(batch(size=500))[:100])
    recovered = reopen(recovered, clean=False)
    assert_clean(tmp_path / "leader", recovered)

    follower = open_log(tmp_path / "follower", CONFIG)
    for group in batches(recovered):
        follower.append_replicated([group], NOW_MS)
    follower.truncate_to(segments_of(follower)[-2].base_offset + 20)
    follower.close()
    assert_clean(tmp_path / "follower", follower)


def test_a_compacted_log_is_clean(tmp_path: Path) -> None:
    config = replace(COMPACTED, segment_bytes=60_000, index_interval_bytes=1000)
    compacted = CompactedLog(tmp_path, config)
    sequences = [0, 0]
    for i in range(900):
        pairs: list[Pair] = [(b"%d" % (i * j % 90), b"v" * (i % 300)) for j in range(i % 7)]
        if i % 20 == 0:
            pairs.append((b"gone-%d" % i, None))
        producer = (-1, -1, -1)
        if i > 800:
            producer = (4000 + i % 2, 1, sequences[i % 2])
            sequences[i % 2] += len(pairs) + 1
        compacted.append(keyed([*pairs, (b"last", b"")], codec=i % 5, timestamp_ms=NOW_MS + i,
                               producer=producer))  # fmt: skip
    for i in range(60):
        compacted.append(keyed([(b"last", bytes(1000 + i))]))
    compacted.roll()
    before = len(compacted.content())
    compacted.clean()
    directory = Path(compacted.log.directory)
    text = assert_clean(directory, compacted.log, with_gaps=True)
    assert re.search(r"deleteHorizonMs: OptionalLong\[\d+", text)
    assert "count: 0 " in text
    assert len(compacted.content()) < before / 2
    compacted.now_ms += 10**6
    next(iter(compacted.cleaner._known.values())).checkpoint = 0
    compacted.clean()
    assert all(value is not None for _, _, value in compacted.content())
    compacted.manager.shutdown()
    assert_clean(directory, compacted.log, with_gaps=True)
    sane = dump_of_log(directory, "--index-sanity-check")
    empty = [path for path in directory.glob("*.index") if not path.stat().st_size]
    assert sane.count("passed sanity check") == len(list(directory.glob("*index"))) - len(empty)
