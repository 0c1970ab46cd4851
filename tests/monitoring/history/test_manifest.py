import pytest

from monitoring.history import manifest
from monitoring.history.manifest import HistoryFile, Manifest

FILE = HistoryFile(name="ticks-1-2.parquet", table="ticks", rows=2, min_tick=1, max_tick=2,
                   min_at_ms=5, max_at_ms=10, bytes=99)  # fmt: skip
HOUR = "2026010100"


def test_a_manifest_survives_its_encoding():
    data = manifest.format_manifest([FILE])
    assert manifest.parse_manifest(3, data) == Manifest(3, (FILE,))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"version":9,"files":[]}', b'{"version":1,"files":[{}]}']
)
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError):  # noqa: PT011 (the reason is Python's own)
        manifest.parse_manifest(1, data)


def test_the_highest_number_wins_as_a_number_and_not_as_text(root):
    before = Manifest(8, ())
    manifest.replace(root, "c", HOUR, before, [])
    manifest.replace(root, "c", HOUR, Manifest(9, ()), [FILE])
    assert manifest.load(root, "c", HOUR) == Manifest(10, (FILE,))


def test_a_torn_manifest_is_passed_over_for_the_one_before(root):
    manifest.replace(root, "c", HOUR, Manifest(0, ()), [FILE])
    root.write(b'{"version":1,"fi', "cluster=c", f"hour={HOUR}", "_manifest-2.json")
    torn = manifest.load(root, "c", HOUR)
    assert torn == Manifest(2, (FILE,))
    manifest.replace(root, "c", HOUR, torn, [])
    assert manifest.load(root, "c", HOUR) == Manifest(3, ())


def test_of_two_writers_that_began_alike_only_the_first_gets_through(root):
    manifest.replace(root, "c", HOUR, Manifest(0, ()), [FILE])
    with pytest.raises(FileExistsError):
        manifest.replace(root, "c", HOUR, Manifest(0, ()), [])
    assert manifest.load(root, "c", HOUR).files == (FILE,)


def test_old_manifests_are_cleared_away_but_the_last_ones_stay(root):
    for number in range(6):
        manifest.replace(root, "c", HOUR, Manifest(number, ()), [FILE])
    names = [entry.base_name for entry in root.entries("cluster=c", f"hour={HOUR}")]
    assert manifest.numbers(names) == [6, 5, 4]


def test_an_hour_without_manifest_has_no_files(root):
    assert manifest.load(root, "c", HOUR) == Manifest(0, ())
    assert manifest.hours(root, "c") == []
