from pathlib import Path

import pytest

from monitoring.history import manifest, reader, writer
from monitoring.history.hours import HOUR_MS, hour_of
from monitoring.ticks.tick import Tick
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000  # a tick in the middle of an hour
ALWAYS = (0, 10**14)


def sampled(number, end=10, **more):
    return make_tick(
        number,
        partitions=[{"topic": "a", "partition": 0, "log_end_offset": end}],
        groups=[{"group": "g", "topic": "a", "partition": 0, "lag": end}],
        **more,
    )


def ticks_in_history(table="partitions"):
    return sorted(reader.read("local", table, *ALWAYS, ["tick"])["tick"].to_pylist())


def test_a_flush_writes_every_new_tick_once(root, redis_server):
    for number in range(FIRST, FIRST + 30):
        put_tick(sampled(number))
    assert writer.flush(root, "local") == 30
    assert writer.flush(root, "local") == 0
    put_tick(sampled(FIRST + 30))
    assert writer.flush(root, "local") == 1
    for table in ("partitions", "groups", "ticks"):
        assert ticks_in_history(table) == list(range(FIRST, FIRST + 31))


def test_many_rows_are_written_in_several_files(root, redis_server, monkeypatch):
    monkeypatch.setattr(writer, "_ROWS_AT_ONCE", 4)
    for number in range(FIRST, FIRST + 5):
        put_tick(sampled(number))
    assert writer.flush(root, "local") == 5
    found = manifest.load(root, "local", hour_of(FIRST * INTERVAL_MS))
    assert [file.rows for file in found.of("partitions")] == [2, 2, 1]
    assert ticks_in_history() == list(range(FIRST, FIRST + 5))


def test_a_crash_before_the_manifest_changes_nothing(root, redis_server, monkeypatch):
    put_tick(sampled(FIRST))
    writer.flush(root, "local")
    put_tick(sampled(FIRST + 1))

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            writer.flush(root, "local")
    assert ticks_in_history() == [FIRST]
    assert writer.flush(root, "local") == 1
    assert ticks_in_history() == [FIRST, FIRST + 1]


def test_an_incomplete_file_is_never_read(root, redis_server):
    put_tick(sampled(FIRST))
    writer.flush(root, "local")
    [known] = reader.files("local", "partitions", *ALWAYS)
    (Path(known).parent / "partitions-9-9.parquet").write_bytes(b"PAR1 torn")
    assert ticks_in_history() == [FIRST]


def test_gaps_are_in_the_ticks_table_only(root, redis_server):
    put_tick(sampled(FIRST))
    put_tick(Tick(cluster="local", tick=FIRST + 1, at_ms=(FIRST + 1) * INTERVAL_MS,
                  interval_ms=INTERVAL_MS, status="gap", reason="no broker answered"))  # fmt: skip
    writer.flush(root, "local")
    ticks = reader.read("local", "ticks", *ALWAYS, ["tick", "status", "reason"]).to_pylist()
    assert ticks == [
        {"tick": FIRST, "status": "ok", "reason": ""},
        {"tick": FIRST + 1, "status": "gap", "reason": "no broker answered"},
    ]
    assert ticks_in_history() == [FIRST]
    assert writer.flush(root, "local") == 0


def test_each_hour_has_its_folder(root, redis_server):
    last_of_hour = (FIRST * INTERVAL_MS // HOUR_MS + 1) * HOUR_MS // INTERVAL_MS - 1
    for number in (last_of_hour, last_of_hour + 1):
        put_tick(sampled(number))
    writer.flush(root, "local")
    at_ms = last_of_hour * INTERVAL_MS
    assert manifest.hours(root, "local") == [hour_of(at_ms), hour_of(at_ms + INTERVAL_MS)]
    assert ticks_in_history() == [last_of_hour, last_of_hour + 1]


def test_ticks_with_different_names_share_a_file(root, redis_server):
    put_tick(make_tick(FIRST, partitions=[{"topic": "a", "partition": 0}]))
    put_tick(make_tick(FIRST + 1, partitions=[{"topic": "b", "partition": 0}]))
    writer.flush(root, "local")
    rows = reader.read("local", "partitions", *ALWAYS, ["topic", "tick"]).to_pylist()
    assert rows == [{"topic": "a", "tick": FIRST}, {"topic": "b", "tick": FIRST + 1}]
    assert len(reader.files("local", "partitions", *ALWAYS)) == 1


def test_clusters_have_folders_of_their_own(root, redis_server):
    put_tick(sampled(FIRST))
    put_tick(make_tick(FIRST, cluster="other", partitions=[{"topic": "x", "partition": 0}]))
    for slug in ("local", "other"):
        writer.flush(root, slug)
    assert manifest.clusters(root) == ["local", "other"]
    assert reader.read("other", "partitions", *ALWAYS, ["topic"]).to_pylist() == [{"topic": "x"}]


def test_rows_carried_over_for_a_silent_coordinator_are_not_written_again(root):
    told = {"group": "g", "topic": "a", "partition": 0, "committed_offset": 4}
    writer.append(
        root,
        "local",
        [
            make_tick(FIRST, groups=[told]),
            make_tick(FIRST + 1, groups=[told | {"told_at_ms": 40}, told | {"group": "h"}]),
        ],
    )
    read = reader.read("local", "groups", *ALWAYS, ["tick", "group"])
    assert sorted((row["tick"], row["group"]) for row in read.to_pylist()) == [
        (FIRST, "g"),
        (FIRST + 1, "h"),
    ]
