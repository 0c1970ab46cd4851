import pytest

from monitoring.history import manifest
from monitoring.history.levels import DAY, RAW
from monitoring.history.manifest import HistoryFile, Manifest
from monitoring.history.root_folder import SpanFolder

FILE = HistoryFile(name="ticks-5-10.parquet", table="ticks", rows=2, min_at_ms=5, max_at_ms=10,
                   bytes=99)  # fmt: skip
PLACE = SpanFolder("c", RAW, "2026010100")


def test_a_manifest_can_be_encoded_and_parsed():
    data = manifest.format_manifest([FILE])
    assert manifest.parse_manifest(3, data) == Manifest(3, (FILE,))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"version":1,"files":[]}', b'{"version":2,"files":[{}]}']
)
def test_an_invalid_manifest_is_refused(data):
    with pytest.raises(ValueError):  # noqa: PT011 (the reason is Python's own)
        manifest.parse_manifest(1, data)


def test_a_manifest_of_a_newer_version_is_refused_even_if_there_is_an_older_one(root):
    manifest.replace(root, PLACE, Manifest(0, ()), [FILE])
    root.write(b'{"version":9,"files":[]}', *PLACE.folder, "_manifest-2.json")
    with pytest.raises(manifest.NewerVersion, match="version 9, known are those up to 2"):
        manifest.load(root, PLACE)


def test_manifest_numbers_are_compared_as_numbers(root):
    before = Manifest(8, ())
    manifest.replace(root, PLACE, before, [])
    manifest.replace(root, PLACE, Manifest(9, ()), [FILE])
    assert manifest.load(root, PLACE) == Manifest(10, (FILE,))


def test_an_incomplete_manifest_is_skipped(root):
    manifest.replace(root, PLACE, Manifest(0, ()), [FILE])
    root.write(b'{"version":2,"fi', *PLACE.folder, "_manifest-2.json")
    torn = manifest.load(root, PLACE)
    assert torn == Manifest(2, (FILE,))
    manifest.replace(root, PLACE, torn, [])
    assert manifest.load(root, PLACE) == Manifest(3, ())


def test_the_second_of_two_concurrent_writers_fails(root):
    manifest.replace(root, PLACE, Manifest(0, ()), [FILE])
    with pytest.raises(FileExistsError):
        manifest.replace(root, PLACE, Manifest(0, ()), [])
    assert manifest.load(root, PLACE).files == (FILE,)


def test_old_manifests_are_deleted_except_the_last_ones(root):
    for number in range(6):
        manifest.replace(root, PLACE, Manifest(number, ()), [FILE])
    names = [entry.base_name for entry in root.entries(*PLACE.folder)]
    assert manifest.numbers(names) == [6, 5, 4]


def test_a_manifest_of_an_older_version_lists_nothing(root):
    root.write(b'{"version":1,"files":[]}', *PLACE.folder, "_manifest-1.json")
    assert manifest.load(root, PLACE) == Manifest(1, ())


def test_a_span_without_manifest_has_no_files(root):
    assert manifest.load(root, PLACE) == Manifest(0, ())
    assert manifest.span_folders(root, "c", RAW) == []


def test_the_spans_of_a_level_are_listed_oldest_first_without_other_folders(root):
    for name in ("span=2026", "span=2025", "span=20x6", "_jobs"):
        root.write(b"", "cluster=c", "level=day", name, "file")
    assert [span_folder.span for span_folder in manifest.span_folders(root, "c", DAY)] == [
        "2025",
        "2026",
    ]
