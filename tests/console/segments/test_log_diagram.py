"""What the diagram of a log draws: files with their labels, marks, axes."""

from console.segments.compression import Compression
from console.segments.log_diagram import FILE_PX, ROW_PX, log_diagram_of
from console.segments.log_diagram_marks import GROUP, Mark
from console.segments.log_diagram_scale import SIZE, scale_of

ZSTD, LZ4 = Compression(("zstd",), 4.2, 8), Compression(("lz4",), 1.9, 8)


def segment(base, size_bytes, compression=ZSTD, **changes):
    return {
        "base_offset": base, "next_offset": base + 10, "size_bytes": size_bytes,
        "first_timestamp_ms": 1000 + base, "largest_timestamp_ms": 1009 + base,
        "compression": compression, "active": False, "is_due": False, "is_rounded": False,
        "index_interval_bytes": 4096.0, "due_at_ms": None, **changes,
    }  # fmt: skip


LOG = [
    segment(0, 400, LZ4, is_due=True),
    segment(10, 900),
    segment(20, 900, Compression()),
    segment(30, 2, active=True),
]


def diagram(segments=LOG, marks=(), looked_up=None):
    return log_diagram_of(segments, scale_of(segments, SIZE), marks, looked_up)


def test_files_have_the_tone_of_their_codec_or_state():
    assert [file.tone for file in diagram().files] == ["other", "main", "unknown", "active"]
    assert [file.tone for file in diagram(looked_up=30).files][-1] == "looked-up"
    assert (diagram().main_codec, diagram().other_codecs) == ("zstd", "lz4")
    drawn = diagram()
    assert (drawn.has_due, drawn.has_unknown_codec, drawn.has_groups) == (True, True, False)
    assert not diagram(LOG[1:2]).has_due


def test_labels_are_left_out_where_a_file_is_too_narrow():
    files = diagram().files
    assert (files[1].size, files[1].codec) == ("900\u202fB", "zstd 4.2×")
    assert (files[3].size, files[3].codec) == ("", "")
    assert files[2].codec == ""


def test_a_title_tells_all_of_a_file():
    title = diagram().files[0].title
    for text in ("File 00000000000000000000.log: 400", "Offsets 0 to 9", "lz4 1.9×", "Due: deleted",
                 "of the first 8 batches", "An index entry every 4\u202fKiB"):  # fmt: skip
        assert text in title
    assert "Active" in diagram().files[3].title
    later = diagram([segment(0, 9, due_at_ms=0)]).files[0].title
    assert "Due from 1970-01-01 00:00:00 UTC on" in later


def test_rounded_sizes_are_told_as_such():
    hidden = {"is_rounded": True, "index_interval_bytes": None}
    file = diagram([segment(0, 1024, Compression(("zstd",)), **hidden)]).files[0]
    assert (file.size, file.codec) == ("about 1\u202fKiB", "zstd")
    assert "index entry" not in file.title


def test_the_strip_is_as_high_as_its_labels_need():
    low, high = diagram(), diagram(marks=[Mark(GROUP, 10, "a", "a"), Mark(GROUP, 10.5, "b", "b")])
    assert high.top - low.top == 2 * ROW_PX + 8
    assert high.bottom == high.top + FILE_PX < high.time_axis < high.height
    assert [y for _mark, y in high.label_rows] == [high.top - 10, high.top - 10 - ROW_PX]
