"""Whose records a log holds, and what becomes of one of another topic."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_manager import LogManager
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager, records

CONFIG = LogConfig(segment_bytes=2000)


def start(*directories: Path, **settings: Any) -> LogManager:
    return open_manager([str(d) for d in directories], 1, now_ms=NOW_MS, **settings)


def fill(manager: LogManager, topic: str = "t", count: int = 20) -> None:
    log = manager.create(topic, 0, TOPIC_ID, CONFIG, NOW_MS)
    for i in range(count):
        log.append([batch(size=300, timestamp_ms=NOW_MS + i)], 0, NOW_MS)


@pytest.mark.parametrize(
    "said", [b"\xffjunk", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA"], ids=["junk", "zero"]
)
def test_a_log_whose_topic_id_cannot_be_read_is_not_served_but_the_others_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, said: bytes
) -> None:
    manager = start(tmp_path)
    fill(manager)
    fill(manager, "other")
    manager.shutdown()
    metadata = tmp_path / "t-0" / "partition.metadata"
    metadata.write_bytes(said)
    manager = start(tmp_path)
    assert str(metadata) in caplog.text
    with pytest.raises(KafkaError, match=r"partition\.metadata does not say a topic id"):
        manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    assert manager.create("other", 0, TOPIC_ID, CONFIG, NOW_MS).log_end_offset == 20
    manager.shutdown()
    metadata.unlink()
    manager = start(tmp_path)
    assert manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS).log_end_offset == 20
    manager.shutdown()


def test_the_log_of_an_older_topic_is_set_aside_for_a_new_partition(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    log = manager.create("t", 0, UUID(int=5), CONFIG, NOW_MS)
    assert log.log_end_offset == 0
    (stray,) = tmp_path.glob("t-0.*-stray")
    assert (stray / f"{0:020d}.log").stat().st_size > 0
    manager.shutdown()
    manager = start(tmp_path)
    assert len(manager.all()) == 1
    manager.shutdown()


def test_a_log_of_another_topic_id_is_not_served_and_left_as_it_is(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    with pytest.raises(KafkaError, match="older topic of that name") as caught:
        manager.create("t", 0, UUID(int=5), CONFIG, NOW_MS, is_new=False)
    assert caught.value.code is ErrorCode.INCONSISTENT_TOPIC_ID
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    assert [record.offset for record in records(log)] == list(range(20))
    manager.shutdown()


def test_an_empty_topic_id_file_is_as_good_as_none(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.shutdown()
    (tmp_path / "t-0" / "partition.metadata").write_bytes(b"")
    manager = start(tmp_path)
    assert manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS).log_end_offset == 20
    manager.shutdown()
    manager = start(tmp_path)
    assert [log.topic_id for log in manager.all()] == [TOPIC_ID]
    manager.shutdown()
