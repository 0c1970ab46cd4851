"""What a sample of a segment tells of its compression, and what it never reads."""

from pathlib import Path

import pytest

from brokerd.log import describe_segments, estimate_compression_ratio
from brokerd.log.estimate_compression_ratio import BATCHES_MAX, CompressionSample, sample
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import Codec
from tests.brokerd.log.support import NOW_MS, batch, open_log


def log_of(directory: Path, *codecs: int, size: int = 1000) -> UnifiedLog:
    log = open_log(directory)
    for codec in codecs:
        log.append([batch(count=10, size=size, codec=codec)], 0, NOW_MS)
    return log


def sample_of(log: UnifiedLog) -> CompressionSample:
    data = describe_segments.data_from(log, 0, 0)
    try:
        return sample(data)
    finally:
        data.release()


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_sample_has_the_sizes_with_and_without_compression(tmp_path: Path, codec: Codec) -> None:
    plain = len(batch(count=10, size=1000))
    log = log_of(tmp_path, codec, codec)
    stored = log.size_bytes
    assert sample_of(log) == ((codec.name.lower(),), 2, stored, 2 * plain)
    assert stored < plain


def test_uncompressed_batches_have_one_size(tmp_path: Path) -> None:
    log = log_of(tmp_path, 0)
    assert sample_of(log) == (("none",), 1, log.size_bytes, log.size_bytes)


def test_only_the_first_batches_are_looked_at(tmp_path: Path) -> None:
    log = log_of(tmp_path, *[0] * (BATCHES_MAX - 1), Codec.ZSTD, Codec.GZIP)
    assert sample_of(log).codecs == ("none", "zstd")
    assert sample_of(log).batches == BATCHES_MAX


def test_a_batch_beyond_the_limits_tells_its_codec_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(tmp_path, Codec.ZSTD)
    monkeypatch.setattr(estimate_compression_ratio, "DECOMPRESSED_BYTES_MAX", 100)
    assert sample_of(log) == (("zstd",), 0, 0, 0)
    monkeypatch.undo()
    monkeypatch.setattr(estimate_compression_ratio, "STORED_BYTES_MAX", 100)
    assert sample_of(log) == (("zstd",), 0, 0, 0)


def test_an_empty_segment_has_an_empty_sample(tmp_path: Path) -> None:
    assert sample_of(open_log(tmp_path)) == ((), 0, 0, 0)


def test_a_damaged_batch_is_left_out(tmp_path: Path) -> None:
    log = log_of(tmp_path, Codec.ZSTD)
    path = tmp_path / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[61:] = bytes(len(data) - 61)
    path.write_bytes(data)
    assert sample_of(log) == (("zstd",), 0, 0, 0)
