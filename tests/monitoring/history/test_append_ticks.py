import pytest

from monitoring.history import append_ticks, manifest
from monitoring.history.levels import HOUR_MS, RAW
from monitoring.history.table_specs import EXISTS, PARTITIONS, UNANSWERED
from monitoring.ticks.tick import Tick
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.history.stored import stored, stored_ticks
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000  # a tick in the middle of an hour


def sampled(number, end=10, **more):
    row = {"topic": "a", "partition": 0, "log_start_offset": 0, "log_end_offset": end}
    group = {"group": "g", "topic": "a", "partition": 0, "committed_offset": 4}
    return make_tick(number, partitions=[row], groups=[group | {"log_end_offset": end}], **more)


def ends():
    return [(row["at_ms"] // INTERVAL_MS, row["log_end_offset"]) for row in stored("partitions")]


def test_a_flush_writes_every_new_tick_once(root, redis_server):
    for number in range(FIRST, FIRST + 30):
        put_tick(sampled(number, end=number))
    assert append_ticks.flush(root, "local") == 30
    assert append_ticks.flush(root, "local") == 0
    put_tick(sampled(FIRST + 30, end=FIRST + 30))
    assert append_ticks.flush(root, "local") == 1
    assert stored_ticks() == list(range(FIRST, FIRST + 31))
    assert ends() == [(number, number) for number in range(FIRST, FIRST + 31)]
    assert [row["records"] for row in stored("partitions")] == [0] + [1] * 30


def test_what_did_not_change_is_not_written_again(root, redis_server):
    for number in range(FIRST, FIRST + 5):
        put_tick(sampled(number, end=10 if number < FIRST + 3 else 12))
    append_ticks.flush(root, "local")
    assert ends() == [(FIRST, 10), (FIRST + 3, 12)]
    assert [row["lag"] for row in stored("groups")] == [6, 8]


def test_the_ticks_of_a_flush_are_one_file_however_they_are_read(root, redis_server, monkeypatch):
    monkeypatch.setattr(append_ticks, "_TICKS_PER_READ", 4)
    for number in range(FIRST, FIRST + 3):
        put_tick(sampled(number, end=number))
    append_ticks.flush(root, "local")
    for number in range(FIRST + 3, FIRST + 12):
        put_tick(sampled(number, end=number))
    assert (
        append_ticks.flush(root, "local") == 9
    )  # in three reads, with those that are written already
    [span_folder] = manifest.span_folders(root, "local", RAW)
    assert [file.rows for file in manifest.load(root, span_folder).of("partitions")] == [3, 9]


def test_many_ticks_are_written_in_several_files(root, redis_server, monkeypatch):
    monkeypatch.setattr(append_ticks, "_TICKS_PER_FILE", 2)
    for number in range(FIRST, FIRST + 5):
        put_tick(sampled(number, end=number))
    assert append_ticks.flush(root, "local") == 5
    [span_folder] = manifest.span_folders(root, "local", RAW)
    assert [file.rows for file in manifest.load(root, span_folder).of("partitions")] == [2, 2, 1]
    assert stored_ticks() == list(range(FIRST, FIRST + 5))


def test_many_small_files_of_an_hour_become_one(root, redis_server):
    for number in range(FIRST, FIRST + 25):
        put_tick(sampled(number, end=number))
        assert append_ticks.flush(root, "local") == 1
    [span_folder] = manifest.span_folders(root, "local", RAW)
    files = manifest.load(root, span_folder).of("partitions")
    assert [file.rows for file in files] == [19, 1, 1, 1, 1, 1, 1]
    assert ends() == [(number, number) for number in range(FIRST, FIRST + 25)]
    assert [row["records"] for row in stored("partitions")] == [0] + [1] * 24
    assert stored_ticks() == list(range(FIRST, FIRST + 25))


def test_merged_files_have_a_limited_number_of_rows(root, redis_server, monkeypatch):
    monkeypatch.setattr(append_ticks, "_MERGED_ROWS_MAX", 4)
    for number in range(FIRST, FIRST + 13):
        put_tick(sampled(number, end=number))
        append_ticks.flush(root, "local")
    [span_folder] = manifest.span_folders(root, "local", RAW)
    files = manifest.load(root, span_folder).of("partitions")
    assert [file.rows for file in files] == [4, 4, 2, 1, 1, 1]
    assert ends() == [(number, number) for number in range(FIRST, FIRST + 13)]


def test_a_late_tick_within_the_time_of_a_merged_file_is_kept(root, monkeypatch):
    ticks = [sampled(number, end=number) for number in range(FIRST, FIRST + 10)]
    late = ticks.pop(4)
    for tick in [*ticks, late]:
        append_ticks.append(root, "local", [tick])
    assert stored_ticks() == list(range(FIRST, FIRST + 10))


def test_a_crash_before_the_manifest_changes_nothing(root, redis_server, monkeypatch):
    put_tick(sampled(FIRST, end=10))
    append_ticks.flush(root, "local")
    put_tick(sampled(FIRST + 1, end=15))

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            append_ticks.flush(root, "local")
    assert stored_ticks() == [FIRST]
    assert append_ticks.flush(root, "local") == 1
    assert stored_ticks() == [FIRST, FIRST + 1]
    assert [row["records"] for row in stored("partitions")] == [0, 5]


def test_a_restarted_worker_goes_on_from_the_stored_rows(root, redis_server):
    put_tick(sampled(FIRST, end=10))
    put_tick(sampled(FIRST + 1, end=12))
    append_ticks.flush(root, "local")
    append_ticks._changes_by_cluster.clear()
    put_tick(sampled(FIRST + 2, end=12))
    put_tick(sampled(FIRST + 3, end=20))
    append_ticks.flush(root, "local")
    assert ends() == [(FIRST, 10), (FIRST + 1, 12), (FIRST + 3, 20)]
    assert [row["records"] for row in stored("partitions")] == [0, 2, 8]
    assert [row["lag_before"] for row in stored("group_partitions")] == [None, 6, 8]


def counted(number):
    """A tick of which every counter grew."""
    row = {
        "topic": "a", "partition": 0, "leader": 1, "log_start_offset": 0, "log_end_offset": number,
        "bytes_in": 10 * number, "bytes_out": 20 * number,
    }  # fmt: skip
    group = {"group": "g", "topic": "a", "partition": 0, "committed_offset": number}
    broker = {"id": 1, "up": True, "requests": 30 * number, "cpu_seconds": 2 * number}
    return make_tick(
        FIRST + number, partitions=[row], groups=[group | {"log_end_offset": number}],
        brokers=[broker],
    )  # fmt: skip


@pytest.mark.parametrize("gaps", [0, 2])
def test_no_counter_loses_what_it_grew_by_over_a_restart_of_the_worker(root, redis_server, gaps):
    put_tick(counted(1))
    append_ticks.flush(root, "local")
    put_tick(counted(2))
    for number in range(gaps):
        put_tick(make_tick(FIRST + 3 + number, status="gap", reason="x"))
    append_ticks.flush(root, "local")
    append_ticks._changes_by_cluster.clear()
    put_tick(counted(3 + gaps))
    append_ticks.flush(root, "local")
    for table in ("partitions", "topics", "cluster"):
        assert [row["bytes_in"] for row in stored(table)] == [0, 10, 10 + 10 * gaps]
        assert [row["bytes_out"] for row in stored(table)] == [0, 20, 20 + 20 * gaps]
        before, after = stored(table)[1:]
        assert after["rated"] == before["rated"] > 0
    assert [row["requests"] for row in stored("brokers")] == [0, 30, 30 + 30 * gaps]
    assert [row["cpu_ms"] for row in stored("brokers")] == [0, 2000, 2000 + 2000 * gaps]


def test_without_the_last_tick_in_redis_a_restarted_worker_counts_its_offsets(root, redis_server):
    put_tick(counted(1))
    append_ticks.flush(root, "local")
    append_ticks._changes_by_cluster.clear()
    redis_server.client().flushall()
    put_tick(counted(2))
    append_ticks.flush(root, "local")
    assert [(row["records"], row["bytes_in"]) for row in stored("partitions")] == [(0, 0), (1, 0)]


def test_records_of_an_outage_are_counted_without_a_rate(root, redis_server):
    put_tick(sampled(FIRST, end=10))
    append_ticks.flush(root, "local")
    put_tick(sampled(FIRST + 100, end=1010))
    append_ticks.flush(root, "local")
    assert [(row["records"], row["rated"]) for row in stored("topics")] == [(0, 0), (1000, 0)]


def topic_ticks(*seen):
    """A tick for each (topic id, start, end) of one partition."""
    return [
        make_tick(
            FIRST + number,
            partitions=[
                {
                    "topic": "a",
                    "topic_id": topic_id,
                    "partition": 0,
                    "log_start_offset": start,
                    "log_end_offset": end,
                }
            ],
        )
        for number, (topic_id, start, end) in enumerate(seen)
    ]


@pytest.mark.parametrize(
    ("seen", "records"),
    [
        ([("x", 0, 100), ("y", 0, 30), ("y", 0, 35)], 35),  # fewer records than before
        ([("x", 0, 100), ("y", 20, 130), ("y", 20, 135)], 115),  # more records than before
        ([(None, 0, 100), (None, 5, 30), (None, 5, 35)], 30),
        ([("x", 0, 100), (None, 0, 30), ("y", 0, 35)], 35),  # counted once
    ],
)
def test_a_topic_that_was_made_anew_counts_from_its_start(root, seen, records):
    append_ticks.append(root, "local", topic_ticks(*seen))
    for table in ("partitions", "topics", "cluster"):
        assert sum(row["records"] for row in stored(table)) == records


def test_a_log_that_was_cut_adds_nothing(root):
    append_ticks.append(root, "local", topic_ticks(("x", 0, 100), ("x", 0, 90), ("x", 0, 95)))
    assert [row["records"] for row in stored("partitions")] == [0, 0, 5]
    assert [row["rated"] & PARTITIONS.counter_bit("records") for row in stored("partitions")][
        1
    ] == 0


def test_retention_and_deleted_records_are_no_traffic(root):
    append_ticks.append(root, "local", topic_ticks(("x", 0, 100), ("x", 60, 100), ("x", 100, 100)))
    assert [row["records"] for row in stored("partitions")] == [0, 0, 0]


def test_topic_ids_are_known_after_a_restart_of_the_worker(root):
    first, second = topic_ticks(("x", 0, 100), ("y", 0, 130))
    append_ticks.append(root, "local", [first])
    append_ticks._changes_by_cluster.clear()
    append_ticks.append(root, "local", [second])
    assert [row["records"] for row in stored("partitions")] == [0, 130]


def test_log_directories_are_stored_when_they_change(root):
    def broker(*free):
        dirs = [
            {"path": f"/{number}", "total_bytes": 9, "free_bytes": each, "size_bytes": 1}
            for number, each in enumerate(free)
        ]
        return {"id": 1, "up": True, "log_dirs": dirs}

    seen = [(5, 4), (5, 3), (5,)]
    ticks = [make_tick(FIRST + n, brokers=[broker(*free)]) for n, free in enumerate(seen)]
    append_ticks.append(root, "local", ticks[:2])
    append_ticks._changes_by_cluster.clear()
    append_ticks.append(root, "local", ticks[2:])
    assert [
        (row["broker"], row["log_dir"], row["state"], row["free_bytes_before"], row["free_bytes"])
        for row in stored("log_dirs")
    ] == [(1, "/0", 1, None, 5), (1, "/1", 1, None, 4), (1, "/1", 1, 4, 3), (1, "/1", 0, 3, None)]


def test_an_incomplete_file_is_never_read(root, redis_server):
    put_tick(sampled(FIRST))
    append_ticks.flush(root, "local")
    [span_folder] = manifest.span_folders(root, "local", RAW)
    root.write(b"PAR1 torn", *span_folder.folder, "partitions-9-9.parquet")
    assert ends() == [(FIRST, 10)]


def test_gaps_are_in_the_ticks_table_only(root, redis_server):
    put_tick(sampled(FIRST))
    put_tick(Tick(cluster="local", tick=FIRST + 1, at_ms=(FIRST + 1) * INTERVAL_MS,
                  interval_ms=INTERVAL_MS, status="gap", reason="no broker answered"))  # fmt: skip
    append_ticks.flush(root, "local")
    assert [(row["tick"], row["status"], row["reason"]) for row in stored("ticks")] == [
        (FIRST, "ok", ""), (FIRST + 1, "gap", "no broker answered")
    ]  # fmt: skip
    assert ends() == [(FIRST, 10)]
    assert append_ticks.flush(root, "local") == 0


def test_each_hour_has_its_folder_and_starts_with_all_rows(root, redis_server):
    last_of_hour = (FIRST * INTERVAL_MS // HOUR_MS + 1) * HOUR_MS // INTERVAL_MS - 1
    for number in (last_of_hour, last_of_hour + 1):
        put_tick(sampled(number))
    append_ticks.flush(root, "local")
    at_ms = last_of_hour * INTERVAL_MS
    spans = [span_folder.span for span_folder in manifest.span_folders(root, "local", RAW)]
    assert spans == [RAW.span_of(at_ms), RAW.span_of(at_ms + INTERVAL_MS)]
    for table in ("partitions", "topics", "group_partitions", "group_topics", "groups", "cluster"):
        assert [row["repeated"] for row in stored(table)] == [False, True]


def test_ticks_with_different_names_share_a_file(root, redis_server):
    put_tick(make_tick(FIRST, partitions=[{"topic": "a", "partition": 0}]))
    put_tick(make_tick(FIRST + 1, partitions=[{"topic": "b", "partition": 0}]))
    append_ticks.flush(root, "local")
    states = [(row["topic"], row["state"] > 0) for row in stored("partitions")]
    assert sorted(states) == [("a", False), ("a", True), ("b", True)]
    [span_folder] = manifest.span_folders(root, "local", RAW)
    assert len(manifest.load(root, span_folder).of("partitions")) == 1


def test_clusters_have_folders_of_their_own(root, redis_server):
    put_tick(sampled(FIRST))
    put_tick(make_tick(FIRST, cluster="other", partitions=[{"topic": "x", "partition": 0}]))
    for slug in ("local", "other"):
        append_ticks.flush(root, slug)
    assert manifest.clusters(root) == ["local", "other"]
    assert [row["topic"] for row in stored("topics", "other")] == ["x"]


def test_groups_of_a_silent_coordinator_exist_and_nothing_of_them_is_known(root):
    read = {"group": "g", "topic": "a", "partition": 0, "committed_offset": 4, "log_end_offset": 9}
    silent = read | {"reported_at_ms": 40, "log_end_offset": None}
    ticks = [make_tick(FIRST, groups=[read]), make_tick(FIRST + 1, groups=[silent])]
    ticks.append(make_tick(FIRST + 2, groups=[read | {"committed_offset": 7}]))
    append_ticks.append(root, "local", ticks)
    assert [
        (row["state"], row["lag"], row["committed_offset"], row["consumed"])
        for row in stored("group_partitions")
    ] == [(3, 5, 4, 0), (EXISTS | UNANSWERED, None, 4, 0), (3, 2, 7, 3)]
