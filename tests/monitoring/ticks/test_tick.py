import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.ticks.tick import Tick, decode, encode
from tests.monitoring.tick_factory import make_tick


def as_redis(fields: dict) -> dict[bytes, bytes]:
    return {k.encode(): v if isinstance(v, bytes) else str(v).encode() for k, v in fields.items()}


def test_a_tick_survives_its_encoding():
    tick = make_tick(
        7,
        partitions=[{"topic": "a", "partition": 0, "leader": 1, "replicas": [1, 2], "isr": [1]}],
        groups=[{"group": "g", "state": "Stable", "topic": "a", "committed_offset": 3}],
        brokers=[{"id": 1, "up": True, "bytes_in": None}],
        controller_id=1,
    )
    assert decode(as_redis(encode(tick))) == tick


def test_unknown_figures_stay_null_and_do_not_become_zero():
    tick = make_tick(7, partitions=[{"topic": "a", "partition": 0}])
    row = decode(as_redis(encode(tick))).partitions.to_pylist()[0]
    assert row["log_end_offset"] is None
    assert row["size_bytes"] is None


def test_a_gap_has_empty_tables_of_the_same_shape():
    gap = Tick(cluster="c", tick=1, at_ms=5, interval_ms=5, status="gap", reason="down")
    read = decode(as_redis(encode(gap)))
    assert read.partitions.num_rows == read.groups.num_rows == 0
    assert read.partitions.schema == make_tick(1).partitions.schema
    assert not read.ok


def test_a_sample_of_another_version_is_refused():
    fields = as_redis(encode(make_tick(1)))
    fields[b"meta"] = fields[b"meta"].replace(b'"version":1', b'"version":99')
    with pytest.raises(ValueError, match="another version"):
        decode(fields)


def test_invalid_values_are_read_as_older_versions_wrote_them():
    tick = make_tick(1, invalid=["topic a: invalid offsets"])
    fields = as_redis(encode(tick))
    fields[b"meta"] = fields[b"meta"].replace(b'"invalid":', b'"refused":')
    assert decode(fields).invalid == tick.invalid != []


@given(st.text(min_size=1, max_size=40), st.integers(0, 2**62))
def test_any_name_and_offset_survives(name, offset):
    tick = make_tick(1, partitions=[{"topic": name, "partition": 0, "log_end_offset": offset}])
    row = decode(as_redis(encode(tick))).partitions.to_pylist()[0]
    assert (row["topic"], row["log_end_offset"]) == (name, offset)


def test_a_sample_that_is_older_than_a_column_has_nulls_in_it():
    tick = make_tick(7, partitions=[{"topic": "a", "partition": 0, "size_bytes": 5}])
    fields = as_redis(encode(tick))
    sink = pa.BufferOutputStream()
    old = tick.partitions.drop_columns(["replicas_size_bytes", "replicas_reported"])
    with pa.ipc.new_stream(sink, old.schema) as writer:
        writer.write_table(old)
    fields[b"partitions"] = sink.getvalue().to_pybytes()
    fields[b"meta"] = fields[b"meta"].replace(b'"since":{},', b"")
    read = decode(fields)
    assert read.partitions.schema == tick.partitions.schema
    row = read.partitions.to_pylist()[0]
    assert (row["size_bytes"], row["replicas_size_bytes"]) == (5, None)
