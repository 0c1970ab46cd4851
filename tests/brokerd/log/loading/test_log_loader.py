"""Opening a log: lazily after a clean stop, with recovery after any other."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from brokerd.config.log_config import LogConfig
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.loading import log_loader
from brokerd.log.loading.recover_log import REPLAY_MAX
from brokerd.log.log_context import LogContext
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, Events, batch, open_log, records, reopen, segments_of

OUTSIDE_THE_CRC_BYTES = 16  # base offset, length and leader epoch, which no CRC guards
SMALL = LogConfig(segment_bytes=2000, index_interval_bytes=200)


def filled(directory: Path, count: int = 40, config: LogConfig = SMALL) -> UnifiedLog:
    log = open_log(directory, config)
    for i in range(count):
        log.append([batch(size=100, timestamp_ms=NOW_MS + i)], i // 10, NOW_MS)
    return log


def data_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def test_after_a_clean_stop_no_data_is_read_until_first_use(tmp_path: Path) -> None:
    filled(tmp_path).close()
    for path in tmp_path.iterdir():
        path.chmod(0o000)
    context = LogContext()
    log = open_log(tmp_path, SMALL, context=context, recovery_point=40)
    assert (log.log_start_offset, log.log_end_offset) == (0, 40)
    assert log.size_bytes == sum(path.stat().st_size for path in data_files(tmp_path))
    assert len(context.files) == 0
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    assert [record.offset for record in records(log)] == list(range(40))


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("is_emptied", [True, False])
def test_of_a_log_that_lost_its_last_segment_it_is_said_how_far_it_reached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, clean: bool, is_emptied: bool
) -> None:
    filled(tmp_path).close()
    last = data_files(tmp_path)[-1]
    if is_emptied:
        os.truncate(last, 0)
    else:
        last.unlink()
    log = open_log(tmp_path, SMALL, recovery_point=40, clean=clean)
    log.prepare_first_use()
    end = log.log_end_offset
    assert end == int(last.stem) < 40
    assert f"ends at offset {end} and was on the disk up to offset 40" in caplog.text


@pytest.mark.parametrize("clean", [True, False])
def test_of_a_log_that_lost_all_its_segments_it_is_said_how_far_it_reached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, clean: bool
) -> None:
    filled(tmp_path).close()
    for path in data_files(tmp_path):
        path.unlink()
    log = open_log(tmp_path, SMALL, recovery_point=40, clean=clean)
    log.prepare_first_use()
    assert log.log_end_offset == 0
    assert "ends at offset 0 and was on the disk up to offset 40" in caplog.text


def test_a_log_that_lost_nothing_says_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for clean in (True, False):
        log = reopen(filled(tmp_path / str(clean)), clean=clean)
        log.prepare_first_use()
        assert log.log_end_offset == 40
    assert caplog.text == ""


def test_a_clean_stop_loses_nothing(tmp_path: Path) -> None:
    log = reopen(filled(tmp_path))
    assert log.append([batch()], 4, NOW_MS)[0].base_offset == 40
    assert [record.offset for record in records(log)] == list(range(41))
    assert log.epochs.entries == [(0, 0), (1, 10), (2, 20), (3, 30), (4, 40)]
    assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 33) == (33, NOW_MS + 33, 3)


def test_a_crash_loses_nothing_that_was_written(tmp_path: Path) -> None:
    log = reopen(filled(tmp_path), clean=False)
    assert [record.offset for record in records(log)] == list(range(40))
    assert log.epochs.entries == [(0, 0), (1, 10), (2, 20), (3, 30)]


def test_a_torn_tail_is_cut_off_on_recovery_and_the_log_of_the_broker_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path)
    last = data_files(tmp_path)[-1]
    intact_bytes = last.stat().st_size
    with last.open("ab") as file:
        file.write(bytes(batch(size=100))[:-1])
    log = open_log(tmp_path, SMALL, clean=False)
    assert last.stat().st_size == intact_bytes
    assert log.log_end_offset == 40
    assert len(records(log)) == 40
    assert "its log ends at offset 40 now" in caplog.text


def test_recovery_ends_at_the_first_flipped_byte_and_removes_what_follows(tmp_path: Path) -> None:
    filled(tmp_path)
    files = data_files(tmp_path)
    damaged = files[1]
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    events = Events()
    log = open_log(tmp_path, SMALL, clean=False, context=LogContext(on_event=events))
    assert data_files(tmp_path) == files[:2]
    kept = [record.offset for record in records(log)]
    assert kept == list(range(len(kept)))
    assert segments_of(log)[1].base_offset < len(kept) < segments_of(log)[1].base_offset + 9
    assert events[0][0] == "recovery"
    assert events[0][1]["truncated_bytes"]
    assert log.append([batch()], 5, NOW_MS)[0].base_offset == len(kept)


def test_recovery_checks_nothing_below_the_recovery_point(tmp_path: Path) -> None:
    filled(tmp_path)
    first = data_files(tmp_path)[0]
    data = bytearray(first.read_bytes())
    data[-1] ^= 1
    first.write_bytes(data)
    log = open_log(tmp_path, SMALL, clean=False, recovery_point=30)
    assert log.log_end_offset == 40


@pytest.mark.parametrize("recovery_point", [None, 0, 3])
def test_after_a_clean_stop_a_lost_recovery_point_costs_nothing_behind_old_damage(
    tmp_path: Path, recovery_point: int | None
) -> None:
    filled(tmp_path).close()
    first = bytearray(data_files(tmp_path)[0].read_bytes())
    first[-1] ^= 1
    data_files(tmp_path)[0].write_bytes(first)
    log = open_log(tmp_path, SMALL, recovery_point=recovery_point)
    assert log.log_end_offset == 40
    behind = int(data_files(tmp_path)[1].stem)
    assert [each.offset for each in records(log, behind)] == list(range(behind, 40))


def test_a_log_shorter_than_a_clean_stop_says_is_recovered_at_first_use(tmp_path: Path) -> None:
    filled(tmp_path).close()
    last = data_files(tmp_path)[-1]
    os.truncate(last, last.stat().st_size - 10)
    log = open_log(tmp_path, SMALL, recovery_point=40)
    assert log.log_end_offset == 40
    assert [record.offset for record in records(log)] == list(range(39))
    assert log.log_end_offset == 39


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("damage", ["missing", "torn", "nonsense"])
def test_an_index_that_does_not_hold_together_is_made_anew(
    tmp_path: Path, suffix: str, damage: str
) -> None:
    filled(tmp_path).close()
    path = tmp_path / f"{0:020d}{suffix}"
    good = path.read_bytes()
    assert good
    if damage == "missing":
        path.unlink()
    elif damage == "torn":
        path.write_bytes(good[:-3])
    else:
        path.write_bytes(b"\xff" * len(good))
    log = open_log(tmp_path, SMALL, recovery_point=40)
    assert [record.offset for record in records(log)] == list(range(40))
    assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 5) == (5, NOW_MS + 5, 0)
    assert path.read_bytes() == good


def test_an_index_without_a_segment_is_removed(tmp_path: Path) -> None:
    filled(tmp_path).close()
    orphan = tmp_path / f"{7:020d}.index"
    orphan.write_bytes(bytes(8))
    open_log(tmp_path, SMALL, recovery_point=40)
    assert not orphan.exists()


def test_a_log_that_ends_before_its_start_begins_empty_at_its_start(tmp_path: Path) -> None:
    filled(tmp_path)
    log = open_log(tmp_path, SMALL, clean=False, log_start_offset=100)
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (100, 100, 0)
    assert log.append([batch()], 5, NOW_MS)[0].base_offset == 100


def test_half_done_work_is_finished_or_undone(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.close()
    bases = [segment.base_offset for segment in segments_of(log)]
    first, second, third = (tmp_path / f"{base:020d}.log" for base in bases[:3])
    (tmp_path / f"{third.name}.cleaned").write_bytes(b"unfinished")
    (tmp_path / f"{third.name}.swap").write_bytes(b"of an unfinished set")
    (tmp_path / f"{0:020d}.timeindex.deleted").write_bytes(b"")
    swap = tmp_path / f"{first.name}.swap"
    swap.write_bytes(first.read_bytes() + second.read_bytes())
    log = open_log(tmp_path, SMALL, recovery_point=40)
    assert not list(tmp_path.glob("*.cleaned")) + list(tmp_path.glob("*.swap"))
    assert not list(tmp_path.glob("*.deleted"))
    assert [s.base_offset for s in segments_of(log)] == [bases[0], *bases[2:]]
    assert [record.offset for record in records(log)] == list(range(40))


def test_a_segment_that_is_recovered_leaves_epochs_that_began_before_it_as_they_were(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path, SMALL)
    for number in range(12):
        log.append([batch(size=300, timestamp_ms=NOW_MS)], min(number // 3, 1), NOW_MS)
    log.append([batch(size=300, timestamp_ms=NOW_MS)], 2, NOW_MS)  # after a kill
    before = log.epochs.entries
    assert before == [(0, 0), (1, 3), (2, 12)]
    active = segments_of(log)[-1].base_offset
    assert 3 < active == log.recovery_point < 12
    log = reopen(log, clean=False)  # and another
    assert log.epochs.entries == before
    assert log.epochs.end_offset_for(0, log.log_end_offset) == (0, 3)


class KilledError(BaseException):
    pass


def test_an_unfinished_set_is_undone_also_where_that_is_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = f"{0:020d}"
    old = {f"{base}.{suffix}": "old" for suffix in ("log", "index", "timeindex")}
    new = [f"{base}.index.swap", f"{base}.timeindex.swap", f"{base}.log.4f.cleaned"]
    for removals in range(len(new)):
        directory = tmp_path / str(removals)
        directory.mkdir()
        for name in [*old, *new]:
            (directory / name).write_text(old.get(name, "new"))
        left = iter(range(removals))

        def remove(path: str, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KilledError
            Path(path).rename(tmp_path / "removed")

        with monkeypatch.context() as patched:
            patched.setattr(os, "unlink", remove)
            with pytest.raises(KilledError):
                log_loader.tidy(str(directory))
        log_loader.tidy(str(directory))
        assert {path.name: path.read_text() for path in directory.iterdir()} == old


def test_a_swap_that_was_cut_short_by_a_crash_covers_what_is_behind_a_damaged_batch(
    tmp_path: Path,
) -> None:
    """Compaction keeps a batch whose CRC is wrong as it is."""
    log = filled(tmp_path)
    log.close()
    bases = [segment.base_offset for segment in segments_of(log)]
    first, second = data_files(tmp_path)[:2]
    cleaned = bytearray(first.read_bytes() + second.read_bytes())
    cleaned[-1 - second.stat().st_size] ^= 1  # in the last record of the first
    (tmp_path / f"{first.name}.swap").write_bytes(cleaned)
    log = open_log(tmp_path, SMALL, clean=False, recovery_point=40)
    assert [each.base_offset for each in segments_of(log)] == [bases[0], *bases[2:]]
    assert segments_of(log)[0].size_bytes == len(cleaned)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, 5000), flip=st.integers(0, 5000), clean=st.booleans())
def test_whatever_happens_to_the_bytes_what_is_read_is_a_prefix(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int, clean: bool
) -> None:
    directory = tmp_path_factory.mktemp("log")
    config = LogConfig(segment_bytes=1 << 20, index_interval_bytes=200)
    filled(directory, config=config)
    path = directory / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    flip %= len(data)
    assume(flip % (len(data) // 40) >= OUTSIDE_THE_CRC_BYTES)
    data[flip] ^= 0x41
    path.write_bytes(data[: len(data) - cut % len(data)])
    log = open_log(directory, config, clean=False, recovery_point=0)
    got = records(log)
    assert [record.offset for record in got] == list(range(len(got)))
    again = reopen(log, clean=clean)
    assert records(again) == got
    assert again.append([batch()], 9, NOW_MS)[0].base_offset == len(got)


def test_after_recovery_the_first_append_need_not_read_the_whole_log(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producer = (7, 0)
    for sequence in range(REPLAY_MAX + 10):
        log.append([batch(producer=(*producer, sequence))], 0, NOW_MS)
    log = reopen(log, clean=False)
    assert f"{log.log_end_offset:020d}.snapshot" in {path.name for path in tmp_path.iterdir()}
    assert log.producers.entries[7].batches[-1].last_sequence == REPLAY_MAX + 9
