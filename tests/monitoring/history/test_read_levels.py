"""Which files and ticks of a level are found for a time range."""

from monitoring.history import append_ticks, read_levels
from monitoring.history.level_choice import LevelRange
from monitoring.history.levels import DAY, RAW
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

ALWAYS = (0, 10**14)
LAST = 360_000_000 // 720 * 720 - 1  # the last tick of an hour
AT_MS = LAST * INTERVAL_MS


def write(root, *numbers, slug="local"):
    for number in numbers:
        append_ticks.append(
            root, slug, [make_tick(number, partitions=[{"topic": "a", "partition": 0}])]
        )


def test_only_files_that_overlap_the_range_are_found(root):
    write(root, LAST, LAST + 1)
    first, second = read_levels.locations(root, "local", RAW, "partitions", *ALWAYS)
    assert f"/span={RAW.span_of(AT_MS)}/" in first
    assert read_levels.locations(root, "local", RAW, "partitions", 0, AT_MS + 41) == [first]
    assert read_levels.locations(root, "local", RAW, "partitions", AT_MS + 41, 10**14) == [second]
    assert read_levels.locations(root, "other", RAW, "partitions", *ALWAYS) == []


def test_a_folder_whose_name_has_spaces_is_found_by_path(root):
    write(root, LAST)
    [path] = read_levels.locations(root, "local", RAW, "topics", *ALWAYS)
    assert "/his tory/cluster=local/level=raw/span=" in path


def test_the_ticks_of_a_range_are_in_the_order_of_time(root):
    write(root, LAST, LAST + 1, LAST + 2)
    found = read_levels.ticks(root, "local", RAW, AT_MS, AT_MS + 2 * INTERVAL_MS)
    assert found["tick"].to_pylist() == [LAST, LAST + 1]
    assert found["step_ms"].to_pylist() == [None, INTERVAL_MS]


def test_a_range_without_roll_ups_is_read_from_the_ticks(root):
    write(root, LAST)
    from_ms, to_ms = AT_MS - 1000, AT_MS + 5000
    assert read_levels.parts(root, "local", from_ms, to_ms, DAY) == [
        LevelRange(RAW, from_ms, to_ms)
    ]
    assert read_levels.parts(root, "other", from_ms, to_ms, DAY) == []
