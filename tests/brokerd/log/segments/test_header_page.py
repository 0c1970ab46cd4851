"""Headers that are read a page at a time: what the first or the last batch of a page claims hides
no neighbour, however few entries the index has."""

from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log

BATCHES = 60
SIZE = 399
"""The bytes of each, of two records; 21 begin on a page."""
CONFIG = LogConfig(index_interval_bytes=1 << 20)
BASE_OFFSET_AT, LAST_DELTA_AT = 0, 23


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("log") / "intact"
    log = open_log(directory, CONFIG)
    for number in range(BATCHES):
        log.append([batch(2, size=157, timestamp_ms=NOW_MS + number)], 0, NOW_MS)
    log.close()
    (path,) = directory.glob("*.log")
    assert path.stat().st_size == BATCHES * SIZE
    assert not next(directory.glob("*.index")).stat().st_size
    return directory


def claiming(intact: Path, directory: Path, number: int, field_at: int, more: int) -> UnifiedLog:
    """The log with a batch that claims more offsets, or other ones, than it has."""
    directory.mkdir()
    for path in intact.iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    (path,) = directory.glob("*.log")
    data = bytearray(path.read_bytes())
    width = 8 if field_at == BASE_OFFSET_AT else 4
    at = number * SIZE + field_at
    claimed = int.from_bytes(data[at : at + width]) + more
    data[at : at + width] = claimed.to_bytes(width)
    path.write_bytes(data)
    log = open_log(directory, CONFIG, recovery_point=2 * BATCHES)
    log.load()
    return log


def batch_found_at(log: UnifiedLog, offset: int) -> int:
    found = log.read(offset, 1, up_to=log.log_end_offset, min_one_batch=True)
    assert found is not None
    found.release()
    number, inside = divmod(found.position_bytes, SIZE)
    assert inside == 0
    return number


@pytest.mark.parametrize("number", [19, 20, 21, 22, 40, 41])
@pytest.mark.parametrize(
    ("field_at", "more"),
    [
        (BASE_OFFSET_AT, 4), (BASE_OFFSET_AT, 8192), (BASE_OFFSET_AT, -6),
        (LAST_DELTA_AT, 3), (LAST_DELTA_AT, 8192),
    ],
)  # fmt: skip
def test_a_batch_that_claims_others_offsets_hides_none_of_them(
    intact: Path, tmp_path: Path, number: int, field_at: int, more: int
) -> None:
    log = claiming(intact, tmp_path / "log", number, field_at, more)
    assert log.log_end_offset == 2 * BATCHES
    offsets = [each for each in range(2 * BATCHES) if each // 2 != number]
    for first in (0, 2 * number, 2 * number + 1):
        batch_found_at(log, first)  # the page that is at hand then
        for offset in offsets:
            assert batch_found_at(log, offset) == offset // 2, offset
    for offset in reversed(offsets):
        assert batch_found_at(log, offset) == offset // 2, offset
