"""All logs of a broker: directories, stops, deletions."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file
from brokerd.log.dirs.log_dir import LogDirError
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.managers import CONFIG, crash, fill, start
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, Events, batch, records, segments_of


def test_logs_are_there_again_after_a_clean_stop(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.shutdown()
    assert (tmp_path / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":-1}'
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n1\nt 0 20\n"
    manager = start(tmp_path)
    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    log = manager.get("t", 0)
    assert log is not None
    assert (log.topic_id, log.log_end_offset) == (TOPIC_ID, 20)
    assert [record.offset for record in records(log)] == list(range(20))
    manager.shutdown()


def test_logs_are_recovered_after_a_crash(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    crash(manager)
    events = Events()
    manager = start(tmp_path, on_event=events)
    log = manager.get("t", 0)
    assert log is not None
    assert [record.offset for record in records(log)] == list(range(20))
    assert events.kinds() == ["recovery"]
    manager.shutdown()


def test_of_what_was_left_cleanly_only_logs_that_no_checkpoint_knows_are_recovered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "ab":
        manager = start(tmp_path / name)
        fill(manager, f"known-{name}")
        fill(manager, f"unknown-{name}")
        manager.shutdown()
    Path(tmp_path, "a", checkpoint_file.RECOVERY_POINT).write_text("0\n1\nknown-a 0 20\n")
    Path(tmp_path, "b", checkpoint_file.RECOVERY_POINT).write_text("garbage")
    events = Events()
    manager = start(tmp_path / "a", tmp_path / "b", on_event=events)
    assert events.kinds() == ["recovery"] * 3
    assert len([line for line in caplog.messages if checkpoint_file.RECOVERY_POINT in line]) == 1
    assert {log.log_end_offset for log in manager.all()} == {20}
    manager.shutdown()


def test_a_log_that_cannot_be_closed_costs_those_of_other_directories_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    fill(manager, "t")
    fill(manager, "u")
    bad = manager.get("t", 0)
    assert bad is not None
    finish = UnifiedLog.finish_writing

    def fail(log: UnifiedLog) -> bool:
        if log is bad:
            raise OverflowError("signed integer is greater than maximum")
        return finish(log)

    monkeypatch.setattr(UnifiedLog, "finish_writing", fail)
    manager.shutdown()
    marks = [path.parent for path in tmp_path.glob("*/.kafka_cleanshutdown")]
    assert marks == [
        tmp_path / name for name in "ab" if not bad.directory.startswith(str(tmp_path / name))
    ]


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
    hold += "print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / ".lock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(LogDirError, match="in use by another broker"):
            start(tmp_path)


@pytest.mark.parametrize("field", ["broker.id=2", "cluster.id=other"])
def test_another_brokers_directory_is_refused(tmp_path: Path, field: str) -> None:
    (tmp_path / "meta.properties").write_text(f"#\nversion=0\nbroker.id=1\n{field}\n")
    with pytest.raises(LogDirError, match=field):
        start(tmp_path).join("mine")
    manager = start(tmp_path / "new")
    manager.join("mine")
    manager.shutdown()
    text = (tmp_path / "new" / "meta.properties").read_text()
    assert text == "version=0\nbroker.id=1\ncluster.id=mine\n"


def test_a_cluster_learnt_later_is_noted_in_every_directory(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    assert manager.dirs.cluster_id == ""
    manager.join("mine")
    assert manager.dirs.cluster_id == "mine"
    for name in ("a", "b"):
        assert "cluster.id=mine\n" in (tmp_path / name / "meta.properties").read_text()
    with pytest.raises(LogDirError, match="another cluster"):
        manager.join("other")
    manager.shutdown()


def test_a_directory_that_cannot_note_its_cluster_fails_like_any_other_with_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    fill(manager, "one")
    fill(manager, "two")
    full = manager.directory_of("two", 0)
    assert full != manager.directory_of("one", 0)
    replace_file = checkpoint_file.replace_file

    def replace(path: Path, text: str, **options: Any) -> None:
        if str(path) == f"{full}/meta.properties":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        replace_file(path, text, **options)

    monkeypatch.setattr(checkpoint_file, "replace_file", replace)
    manager.join("mine")
    (failed,) = manager.take_failed()
    assert (failed.path, failed.partitions) == (full, [("two", 0)])
    assert failed.reason == f"{full}/meta.properties: No space left on device"
    assert [log.topic for log in manager.all()] == ["one"]
    manager.tasks.save_recovery_points(manager.dirs.live[0].path)
    manager.shutdown()
    assert (Path(manager.dirs.live[0].path) / ".kafka_cleanshutdown").exists()
    assert not (Path(full or "") / ".kafka_cleanshutdown").exists()


JUNK = [b"", b"junk\n", bytes(64), b"\xff\xfe\x00", b"0\n1\nt 0 many\n", b"0\nmany\n"]


@pytest.mark.parametrize("junk", [b"", b"junk", bytes(64), b"\xff\xfe", b"version=1\nnode.id=1\n"])
def test_a_directory_whose_owner_cannot_be_told_is_refused(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "meta.properties").write_bytes(junk)
    with pytest.raises(LogDirError, match=r"meta\.properties is not .*correct log\.dirs"):
        start(tmp_path)


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
        "replication-offset-checkpoint", "t-0/leader-epoch-checkpoint",
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_is_named_and_everything_is_there(
    tmp_path: Path, name: str, junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.shutdown()
    (tmp_path / name).write_bytes(junk)
    manager = start(tmp_path)
    manager.dirs.read(checkpoint_file.HIGH_WATERMARK)
    log = manager.get("t", 0)
    assert log is not None
    assert [record.offset for record in records(log)] == list(range(20))
    assert log.epochs.end_offset_for(0, log.log_end_offset) == (0, 20)
    is_as_kafka_leaves_it = not junk and name != "t-0/leader-epoch-checkpoint"
    assert (str(tmp_path / name) in caplog.text) != is_as_kafka_leaves_it
    manager.shutdown()


def test_a_mark_of_a_clean_stop_counts_whatever_is_in_it_as_in_kafka(tmp_path: Path) -> None:
    for text in ("", '{"version":0}', "junk"):
        manager = start(tmp_path)
        fill(manager)
        manager.shutdown()
        (tmp_path / ".kafka_cleanshutdown").write_text(text)
        events = Events()
        start(tmp_path, on_event=events).shutdown()
        assert events.kinds() == []


def test_partitions_are_spread_over_the_directories(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    for partition in range(4):
        manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
    assert len(list((tmp_path / "a").glob("t-*"))) == 2
    assert len(list((tmp_path / "b").glob("t-*"))) == 2
    manager.shutdown()
    manager = start(tmp_path / "a", tmp_path / "b")
    assert sorted(log.partition for log in manager.all()) == [0, 1, 2, 3]
    manager.shutdown()


def test_one_partition_in_two_directories_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "t-0").mkdir(parents=True)
    with pytest.raises(LogDirError, match="remove one of the two"):
        start(tmp_path / "a", tmp_path / "b")


def test_creating_a_log_twice_is_the_same_log(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    assert manager.create("t", 0, TOPIC_ID, LogConfig(retention_ms=5), NOW_MS) is log
    assert log.config.retention_ms == 5
    assert (tmp_path / "t-0" / "partition.metadata").read_text() == (
        "version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA"
    )
    manager.shutdown()


def test_a_deleted_log_is_gone_at_once_and_its_files_later(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager, "t" * 249)
    log = manager.get("t" * 249, 0)
    assert log is not None
    found = log.read(0, 100, up_to=20, min_one_batch=True)
    manager.delete("t" * 249, 0, NOW_MS)
    assert manager.all() == []
    (renamed,) = tmp_path.glob("*-delete")
    manager.tasks.tick_delete(NOW_MS + CONFIG.file_delete_delay_ms - 1)
    assert renamed.exists()
    manager.tasks.tick_delete(NOW_MS + CONFIG.file_delete_delay_ms)
    assert not renamed.exists()
    assert found is not None
    found.release()
    assert manager.create("t" * 249, 0, UUID(int=6), CONFIG, NOW_MS).log_end_offset == 0
    assert sorted(p.name for p in tmp_path.glob("t*/*")) == [
        f"{0:020d}.index", f"{0:020d}.log", f"{0:020d}.timeindex", "partition.metadata",
    ]  # fmt: skip
    manager.shutdown()


def test_a_deletion_that_a_stop_interrupted_is_finished(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.delete("t", 0, NOW_MS)
    manager.shutdown()
    manager = start(tmp_path)
    assert manager.all() == []
    manager.tasks.tick_delete(NOW_MS)
    assert not list(tmp_path.glob("*-delete"))
    manager.shutdown()


class Opened:
    """The files that are opened while it records, by whatever function of Python."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.is_recording = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if self.is_recording and event == "open" and isinstance(args[0], str):
            self.paths.append(Path(args[0]))


def test_after_a_clean_stop_one_small_file_of_each_partition_is_read_at_the_start(
    tmp_path: Path,
) -> None:
    manager = start(tmp_path)
    for partition in range(20):
        log = manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
        for _ in range(30):
            log.append([batch(size=200)], 1, NOW_MS)
        assert len(segments_of(log)) > 2
    manager.shutdown()
    opened = Opened()
    opened.is_recording = True
    manager = start(tmp_path)
    opened.is_recording = False
    of_partitions = [path for path in opened.paths if path.parent.parent == tmp_path]
    assert len(of_partitions) == 20
    assert {path.name for path in of_partitions} == {"partition.metadata"}
    assert {log.log_end_offset for log in manager.all()} == {30}
    opened.is_recording = True
    first = manager.get("t", 0)
    assert first is not None
    assert [record.offset for record in records(first)] == list(range(30))
    opened.is_recording = False
    assert {".log", ".index", ".timeindex"} <= {path.suffix for path in opened.paths}
    manager.shutdown()
