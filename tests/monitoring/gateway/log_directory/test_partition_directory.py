import os

import pytest

from monitoring.gateway.log_directory.partition_directory import (
    checkpoint_text,
    opened_partition,
)

LOG = "00000000000000000000.log"


@pytest.fixture
def log_directory(tmp_path):
    (tmp_path / "data" / "orders-0").mkdir(parents=True)
    (tmp_path / "data" / "orders-0" / LOG).write_bytes(b"abc")
    return tmp_path / "data"


def test_the_files_of_each_segment_are_listed(log_directory):
    partition = log_directory / "orders-0"
    for name in ("00000000000000000000.index", "00000000000000000007.log"):
        (partition / name).write_bytes(b"12345678")
    for name in (
        "00000000000000000003.log.deleted", "00000000000000000009.snapshot",
        "leader-epoch-checkpoint", "00000000000000000004.log.swap",
    ):  # fmt: skip
        (partition / name).touch()
    with opened_partition([str(log_directory)], ("orders", 0)) as found:
        assert found.segment_files() == {
            0: [("00000000000000000000.index", 8), (LOG, 3)],
            7: [("00000000000000000007.log", 8)],
        }


def test_the_first_log_directory_with_the_partition_is_taken(log_directory, tmp_path):
    paths = [str(tmp_path / "missing"), str(tmp_path), str(log_directory)]
    with opened_partition(paths, ("orders", 0)) as found:
        assert found.log_directory == str(log_directory)


@pytest.mark.parametrize(
    ("topic", "partition"),
    [("orders", 1), ("..", 0), ("../data/orders", 0), ("orders-0/../orders", 0), ("orders", -1),
     ("", 0), ("orders\n", 0), ("x" * 249, 0)],
)  # fmt: skip
def test_only_directories_of_partitions_are_opened(log_directory, topic, partition):
    with opened_partition([str(log_directory)], (topic, partition)) as found:
        assert found is None


def test_symbolic_links_are_not_followed(log_directory, tmp_path):
    os.symlink(log_directory / "orders-0", log_directory / "orders-1")
    with opened_partition([str(log_directory)], ("orders", 1)) as found:
        assert found is None
    secret = tmp_path / "secret"
    secret.write_text("secret")
    os.symlink(secret, log_directory / "orders-0" / "00000000000000000007.log")
    os.symlink(secret, log_directory / "checkpoint")
    with opened_partition([str(log_directory)], ("orders", 0)) as found:
        assert list(found.segment_files()) == [0]
        with pytest.raises(OSError, match="symbolic links"), found.opened(7, ".log"):
            pass
    with pytest.raises(OSError, match="symbolic links"):
        checkpoint_text(str(log_directory), "checkpoint")


def test_a_named_pipe_is_no_file(log_directory):
    os.mkfifo(log_directory / "orders-0" / "00000000000000000007.log")
    with opened_partition([str(log_directory)], ("orders", 0)) as found:
        assert list(found.segment_files()) == [0]
        with pytest.raises(FileNotFoundError), found.opened(7, ".log"):
            pass


def test_a_checkpoint_that_is_missing_is_empty(log_directory):
    assert checkpoint_text(str(log_directory), "log-start-offset-checkpoint") == ""
