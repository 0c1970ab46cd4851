"""Which rows of a file are read for one key."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitoring.history import parquet_rows_by_key

SCHEMA = pa.schema([
    ("at_ms", pa.int64()), ("topic", pa.string()), ("partition", pa.int32()),
    ("records", pa.int64()),
])  # fmt: skip
TOPICS = [f"topic-{number:03d}" for number in range(100)]


@pytest.fixture
def path(root):
    """Each topic has two partitions and each partition three rows, in row groups of 32."""
    rows = [
        {"at_ms": at_ms, "topic": topic, "partition": partition, "records": number}
        for number, topic in enumerate(TOPICS)
        for partition in range(2)
        for at_ms in range(3)
    ]
    path = root.path("rows.parquet")
    os.makedirs(root.base, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, row_group_size=32)
    return path


def read(root, path, key, schema=SCHEMA, columns=("at_ms", "records")):
    return parquet_rows_by_key.read(root, path, schema, key, list(columns)).to_pydict()


def test_a_key_has_its_rows(root, path):
    expected = {"at_ms": [0, 1, 2], "records": [42, 42, 42]}
    assert read(root, path, {"topic": "topic-042", "partition": 1}) == expected


def test_the_start_of_a_key_has_the_rows_of_all_keys_that_begin_with_it(root, path):
    found = read(root, path, {"topic": "topic-007"}, columns=("topic", "partition"))
    assert found == {"topic": ["topic-007"] * 6, "partition": [0, 0, 0, 1, 1, 1]}


def test_without_a_key_all_rows_are_read(root, path):
    assert len(read(root, path, {})["at_ms"]) == 600


def test_a_key_that_is_not_there_has_no_rows(root, path):
    for key in ({"topic": "a"}, {"topic": "topic-042x"}, {"topic": "topic-042", "partition": 7}):
        assert read(root, path, key) == {"at_ms": [], "records": []}


def test_only_the_row_groups_of_the_key_are_read(root, path, monkeypatch):
    read_groups = []

    def counted(self, groups, *args, **kwargs):
        read_groups.append(groups)
        return real(self, groups, *args, **kwargs)

    real = pq.ParquetFile.read_row_groups
    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counted)
    read(root, path, {"topic": "topic-000"})
    read(root, path, {"topic": "topic-042", "partition": 1})
    assert read_groups == [[0], [7, 8]]


def test_a_column_that_the_file_does_not_have_is_null(root, path):
    schema = SCHEMA.append(pa.field("bytes_in", pa.int64()))
    found = read(root, path, {"topic": "topic-001", "partition": 0}, schema, ("at_ms", "bytes_in"))
    assert found == {"at_ms": [0, 1, 2], "bytes_in": [None] * 3}


def test_a_file_that_was_written_again_is_read_again(root, path):
    read(root, path, {"topic": "topic-001"})
    rows = [{"at_ms": 5, "topic": "topic-001", "partition": 0, "records": 1}]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    assert read(root, path, {"topic": "topic-001"}) == {"at_ms": [5], "records": [1]}


def test_a_damaged_file_is_named(root, path):
    with open(path, "r+b") as file:
        file.seek(0)
        file.write(bytes(os.path.getsize(path) - 2000))
    with pytest.raises(OSError, match=r"rows\.parquet: "):
        read(root, path, {"topic": "topic-001", "partition": 0})


def test_a_file_that_is_no_parquet_is_named(root, path):
    with open(path, "wb") as file:
        file.write(b"nothing")
    with pytest.raises(OSError, match=r"rows\.parquet: "):
        read(root, path, {})
