import threading

import pyarrow.dataset
import pytest

from monitoring.history import reader, writer
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000
AT_MS = FIRST * INTERVAL_MS + 40


@pytest.fixture
def history(root):
    ticks = [
        make_tick(
            FIRST + n,
            partitions=[
                {"topic": topic, "partition": p, "log_end_offset": 100 * n + p}
                for topic in ("a", "b")
                for p in range(2)
            ],
            groups=[{"group": g, "topic": "a", "partition": 0, "lag": n} for g in ("g", "h")],
        )
        for n in range(3)
    ]
    for tick in ticks:  # three flushes, three files
        writer.append(root, "local", [tick])
    return root


def test_a_range_includes_its_start_and_excludes_its_end(history):
    read = reader.read("local", "groups", AT_MS, AT_MS + 2 * INTERVAL_MS, ["tick"], group="g")
    assert sorted(read["tick"].to_pylist()) == [FIRST, FIRST + 1]


def test_a_read_can_be_limited_to_a_topic_or_group(history):
    columns = ["topic", "partition", "log_end_offset"]
    read = reader.read("local", "partitions", AT_MS, AT_MS + 1, columns, topic="b")
    assert read.to_pylist() == [
        {"topic": "b", "partition": 0, "log_end_offset": 0},
        {"topic": "b", "partition": 1, "log_end_offset": 1},
    ]
    assert reader.read("local", "groups", 0, 10**14, ["lag"], group="nobody").num_rows == 0


def test_files_outside_the_range_are_not_listed(history):
    assert len(reader.files("local", "groups", 0, 10**14)) == 3
    assert len(reader.files("local", "groups", AT_MS + INTERVAL_MS, 10**14)) == 2
    assert reader.files("local", "groups", 0, AT_MS) == []


def test_without_history_the_table_is_empty_with_the_requested_columns(root):
    read = reader.read("local", "partitions", 0, 10**14, ["topic", "size_bytes"])
    assert (read.num_rows, read.column_names) == (0, ["topic", "size_bytes"])


def test_local_files_are_plain_paths(history):
    for path in reader.files("local", "groups", 0, 10**14):
        assert path.startswith("/")
        assert "/his tory/cluster=local/hour=" in path


def test_a_column_that_is_missing_in_an_older_file_is_null(history, monkeypatch):
    old = make_tick(FIRST + 3, partitions=[{"topic": "a", "partition": 9, "size_bytes": 5}])
    younger = ["replicas_size_bytes", "replicas_told"]
    with monkeypatch.context() as patched:
        written = writer.write_file
        patched.setattr(
            writer,
            "write_file",
            lambda root, slug, hour, name, table: written(
                root, slug, hour, name, table.drop_columns(younger if name == "partitions" else [])
            ),
        )
        writer.append(history, "local", [old])
    read = reader.read("local", "partitions", 0, 10**14, ["partition", "size_bytes", *younger])
    (row,) = [row for row in read.to_pylist() if row["partition"] == 9]
    assert (row["size_bytes"], row["replicas_size_bytes"]) == (5, None)


def test_two_reads_run_at_a_time_and_the_others_wait_for_their_turn(history, monkeypatch):
    lock, both, running, most = threading.Lock(), threading.Barrier(2, timeout=60), [], []

    class Slow:
        def to_table(self, **_wanted):
            with lock:
                running.append(True)
                most.append(len(running))
            both.wait()
            with lock:
                running.pop()

    monkeypatch.setattr(pyarrow.dataset, "dataset", lambda *_paths, **_more: Slow())
    readers = [
        threading.Thread(target=reader.read, args=("local", "groups", 0, 10**14, ["tick"]))
        for _ in range(6)
    ]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join(60)
    assert (len(most), max(most)) == (6, 2)
