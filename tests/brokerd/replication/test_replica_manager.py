"""What the cluster decides becomes partitions here."""

import gc
from pathlib import Path
from uuid import UUID

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file
from brokerd.log.log_manager import LogManager
from brokerd.replication.replica_manager import HIGH_WATERMARK_INTERVAL_MS, ReplicaManager
from tests.brokerd.log.support import NOW_MS, batch, open_manager
from tests.brokerd.replication.support import state
from tests.support.manual_clock import ManualClock

ALONE = {"replicas": (1,), "isr": (1,)}


def start(directory: Path) -> tuple[LogManager, ReplicaManager]:
    logs = open_manager([str(directory)], 1, now_ms=NOW_MS)
    return logs, ReplicaManager(logs, 1, ManualClock(NOW_MS))


def start_again_with_records(directory: Path) -> tuple[LogManager, ReplicaManager]:
    """What a broker knows after a restart: a log of five records, assigned to nobody yet."""
    logs, replicas = start(directory)
    replicas.apply_states([state(1, leader=1, **ALONE)])
    replicas.all()[0].append([batch(5)], NOW_MS)
    replicas.checkpoint()
    logs.shutdown()
    return start(directory)


def test_states_become_partitions_with_their_settings(tmp_path: Path) -> None:
    logs, replicas = start(tmp_path)
    config = LogConfig(retention_ms=7)
    changed = replicas.apply_states([state(1, leader=1, **ALONE)], [], {"t": config})
    partition = replicas.get("t", 0)
    assert changed == replicas.all() == [partition]
    assert partition is not None
    assert partition.is_leader
    assert partition.log.config is config
    assert replicas.apply_states([state(1, leader=1, **ALONE)]) == []
    replicas.reconfigure(partition, LogConfig(retention_ms=8))
    assert partition.log.config.retention_ms == 8
    logs.shutdown()


def test_partitions_of_other_brokers_are_not_held(tmp_path: Path) -> None:
    logs, replicas = start(tmp_path)
    assert replicas.apply_states([state(1, leader=2, replicas=(2,), isr=(2,))]) == []
    assert logs.all() == []
    logs.shutdown()


def test_records_and_high_watermark_survive_a_restart(tmp_path: Path) -> None:
    logs, replicas = start_again_with_records(tmp_path)
    replicas.apply_states([state(2, leader=2)])
    partition = replicas.all()[0]
    assert not partition.is_leader
    assert (partition.high_watermark, partition.log.log_end_offset) == (5, 5)
    logs.shutdown()


def test_high_watermarks_of_partitions_not_assigned_yet_are_kept(tmp_path: Path) -> None:
    logs, replicas = start_again_with_records(tmp_path)
    replicas.tick(NOW_MS + HIGH_WATERMARK_INTERVAL_MS)
    assert logs.dirs.read(checkpoint_file.HIGH_WATERMARK) == {("t", 0): 5}
    logs.shutdown()


def test_a_deleted_topic_is_gone_and_may_come_back_empty(tmp_path: Path) -> None:
    logs, replicas = start(tmp_path)
    replicas.apply_states([state(1, leader=1, **ALONE)])
    old = replicas.all()[0]
    old.append([batch(5)], NOW_MS)
    heard = []
    old.listeners[lambda partition: heard.append(partition.is_leader)] = None
    new = state(0, leader=1, topic_id=UUID(int=3), **ALONE)
    replicas.apply_states([new], [("t", 0)])
    assert heard == [False]
    partition = replicas.get("t", 0)
    assert partition is not None
    assert partition is not old
    assert (partition.is_leader, partition.log.log_end_offset) == (True, 0)
    logs.shutdown()


def test_a_topic_made_anew_while_this_broker_was_away_starts_empty(tmp_path: Path) -> None:
    logs, replicas = start_again_with_records(tmp_path)
    made = state(0, leader=1, topic_id=UUID(int=3), is_new=True, **ALONE)
    replicas.apply_states([made])
    partition = replicas.get("t", 0)
    assert partition is not None
    assert (partition.log.log_end_offset, partition.high_watermark) == (0, 0)
    logs.shutdown()


def test_a_partition_whose_log_is_of_another_topic_id_is_offline(tmp_path: Path) -> None:
    logs, replicas = start_again_with_records(tmp_path)
    assert replicas.apply_states([state(5, leader=1, topic_id=UUID(int=3), **ALONE)]) == []
    assert "older topic of that name" in replicas.offline["t", 0]
    logs.shutdown()


def test_a_failed_log_directory_ends_its_partitions_and_a_deletion_leaves_them_offline(
    tmp_path: Path,
) -> None:
    logs, replicas = start(tmp_path)
    replicas.apply_states([state(1, leader=1, **ALONE)])
    (partition,) = replicas.all()
    heard = []
    partition.listeners[lambda partition: heard.append(partition.is_leader)] = None
    logs._dir_failed(str(tmp_path), OSError(5, "Input/output error"))
    (failed,) = logs.take_failed()
    replicas.take_offline(failed.partitions, failed.reason)
    assert (heard, replicas.all()) == ([False], [])
    assert replicas.apply_states([state(2, leader=1, **ALONE)]) == []
    assert "is offline" in replicas.offline["t", 0]
    replicas.apply_states([], [("t", 0), ("t", 1)])
    assert list(replicas.offline) == [("t", 0)]
    logs.shutdown()


def test_a_partition_of_unknown_topic_id_is_offline_until_it_is_deleted(tmp_path: Path) -> None:
    logs, replicas = start(tmp_path)
    replicas.apply_states([state(1, leader=1, **ALONE)])
    logs.shutdown()
    (tmp_path / "t-0" / "partition.metadata").write_text("junk")
    logs, replicas = start(tmp_path)
    assert replicas.apply_states([state(2, leader=1, **ALONE)]) == []
    assert "partition.metadata" in replicas.offline["t", 0]
    replicas.apply_states([state(0, leader=1, topic_id=UUID(int=3), **ALONE)], [("t", 0)])
    assert (replicas.offline, len(replicas.all())) == ({}, 1)
    logs.shutdown()


def test_a_partition_that_cannot_be_made_does_not_hold_up_the_others(tmp_path: Path) -> None:
    logs, replicas = start(tmp_path)
    (tmp_path / "t-0").write_text("in the way")
    changed = replicas.apply_states(
        [state(1, leader=1, **ALONE), state(1, leader=1, partition=1, **ALONE)]
    )
    assert [partition.index for partition in changed] == [1]
    assert replicas.get("t", 0) is None
    assert "is in the way" in replicas.offline["t", 0]
    logs.shutdown()


def test_a_deleted_partition_leaves_nothing_to_the_garbage_collector(tmp_path: Path) -> None:
    """What was frozen before is never looked at by it."""
    logs, replicas = start(tmp_path)
    config = LogConfig(flush_messages=2)
    replicas.apply_states([state(1, leader=1, **ALONE)], [], {"t": config})
    for _ in range(3):
        replicas.all()[0].append([batch(5)], NOW_MS)
        replicas.all()[0].log.roll(NOW_MS)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        replicas.apply_states([], [("t", 0)])
        gc.collect()
        left = {type(each).__name__ for each in gc.garbage if "brokerd." in type(each).__module__}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == set()
    logs.shutdown()
