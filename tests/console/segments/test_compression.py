"""What samples tell of the compression of segments."""

from console.segments.compression import Compression, compression_of


def sample(codecs, size_bytes, uncompressed_bytes):
    return {"codecs": codecs, "batches": 8, "size_bytes": size_bytes,
            "uncompressed_bytes": uncompressed_bytes}  # fmt: skip


def test_the_ratio_is_the_size_without_compression_by_the_size():
    found = compression_of(sample(["zstd"], 100, 420), is_masked=False)
    assert (found, str(found)) == (Compression(("zstd",), 4.2, 8), "zstd 4.2×")
    mixed = compression_of(sample(["none", "lz4"], 100, 150), is_masked=False)
    assert str(mixed) == "lz4 + none 1.5×"


def test_records_without_compression_have_no_ratio_to_tell():
    assert str(compression_of(sample(["none"], 100, 100), is_masked=False)) == "none"


def test_what_was_not_sampled_is_not_known():
    assert str(compression_of(None, is_masked=False)) == "—"
    assert compression_of(sample(["zstd"], 0, 0), is_masked=False).ratio is None


def test_masked_readers_see_only_the_codec():
    assert str(compression_of(sample(["zstd"], 100, 420), is_masked=True)) == "zstd"
