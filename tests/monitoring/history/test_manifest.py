import pytest

from monitoring.history import manifest
from monitoring.history.manifest import HistoryFile, Manifest

FILE = HistoryFile(name="ticks-1-2.parquet", table="ticks", rows=2, min_tick=1, max_tick=2,
                   min_at_ms=5, max_at_ms=10, bytes=99)  # fmt: skip
HOUR = "2026010100"


def test_a_manifest_can_be_encoded_and_parsed():
    data = manifest.format_manifest([FILE])
    assert manifest.parse_manifest(3, data) == Manifest(3, (FILE,))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"version":9,"files":[]}', b'{"version":1,"files":[{}]}']
)
def test_an_invalid_manifest_is_refused(data):
    with pytest.raises(ValueError):  # noqa: PT011 (the reason is Python's own)
        manifest.parse_manifest(1, data)


def test_manifest_numbers_are_compared_as_numbers(root):
    before = Manifest(8, ())
    manifest.replace(root, "c", HOUR, before, [])
    manifest.replace(root, "c", HOUR, Manifest(9, ()), [FILE])
    assert manifest.load(root, "c", HOUR) == Manifest(10, (FILE,))


def test_an_incomplete_manifest_is_skipped(root):
    manifest.replace(root, "c", HOUR, Manifest(0, ()), [FILE])
    root.write(b'{"version":1,"fi', "cluster=c", f"hour={HOUR}", "_manifest-2.json")
    torn = manifest.load(root, "c", HOUR)
    assert torn == Manifest(2, (FILE,))
    manifest.replace(root, "c", HOUR, torn, [])
    assert manifest.load(root, "c", HOUR) == Manifest(3, ())


def test_the_second_of_two_concurrent_writers_fails(root):
    manifest.replace(root, "c", HOUR, Manifest(0, ()), [FILE])
    with pytest.raises(FileExistsError):
        manifest.replace(root, "c", HOUR, Manifest(0, ()), [])
    assert manifest.load(root, "c", HOUR).files == (FILE,)


def test_old_manifests_are_deleted_except_the_last_ones(root):
    for number in range(6):
        manifest.replace(root, "c", HOUR, Manifest(number, ()), [FILE])
    names = [entry.base_name for entry in root.entries("cluster=c", f"hour={HOUR}")]
    assert manifest.numbers(names) == [6, 5, 4]


def test_an_hour_without_manifest_has_no_files(root):
    assert manifest.load(root, "c", HOUR) == Manifest(0, ())
    assert manifest.hours(root, "c") == []
