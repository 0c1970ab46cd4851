"""What is renamed, made or removed is durable before it is relied on: its directory is synced."""

import os
from pathlib import Path

import pytest

from brokerd.log.log_config import LogConfig
from brokerd.log.manager import LogManager
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_log


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """For each directory synced so far: the names it had then."""
    seen: dict[str, set[str]] = {}
    real = os.fsync

    def sync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        if os.path.isdir(path):
            seen[path] = set(os.listdir(path))
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    return seen


def test_the_mark_of_a_clean_stop_is_there_or_gone_when_others_go_by_it(
    tmp_path: Path, synced: dict[str, set[str]]
) -> None:
    mark = ".kafka_cleanshutdown"
    manager = LogManager.open([str(tmp_path)], 1, now_ms=NOW_MS)
    assert "meta.properties" in synced[str(tmp_path)]
    manager.create("t", 0, TOPIC_ID, LogConfig(), NOW_MS).append([batch()], 0, NOW_MS)
    manager.shutdown()
    assert {mark, "recovery-point-offset-checkpoint"} <= synced[str(tmp_path)]
    manager = LogManager.open([str(tmp_path)], 1, now_ms=NOW_MS)
    assert mark not in synced[str(tmp_path)]
    manager.shutdown()


def test_a_new_segment_is_synced_with_its_name_and_once(
    tmp_path: Path, synced: dict[str, set[str]]
) -> None:
    log = open_log(tmp_path)
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert f"{0:020d}.log" in synced.pop(str(tmp_path))
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert not synced
    log.roll(NOW_MS)
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert f"{2:020d}.log" in synced[str(tmp_path)]
