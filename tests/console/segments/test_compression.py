"""What samples tell of the compression of segments."""

from console.segments.compression import Compression, compressions


def answer(codecs, size_bytes, uncompressed_bytes):
    sample = {"base_offset": 7, "codecs": codecs, "batches": 8, "size_bytes": size_bytes,
              "uncompressed_bytes": uncompressed_bytes}  # fmt: skip
    return {"batches_max": 8, "segments": [sample]}


def test_the_ratio_is_the_size_without_compression_by_the_size():
    found = compressions(answer(["zstd"], 100, 420), is_masked=False)[7]
    assert (found, str(found)) == (Compression(("zstd",), 4.2, 8), "zstd 4.2×")
    mixed = compressions(answer(["none", "lz4"], 100, 150), is_masked=False)[7]
    assert str(mixed) == "lz4 + none 1.5×"


def test_records_without_compression_have_no_ratio_to_tell():
    assert str(compressions(answer(["none"], 100, 100), is_masked=False)[7]) == "none"


def test_what_was_not_sampled_is_not_known():
    assert str(Compression()) == "—"
    assert compressions(answer(["zstd"], 0, 0), is_masked=False)[7].ratio is None


def test_masked_readers_see_only_the_codec():
    assert str(compressions(answer(["zstd"], 100, 420), is_masked=True)[7]) == "zstd"
