from monitoring.history import flush_state, locked_writer
from monitoring.history.flush_state import LATE_MS, LateFlush
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.history.stored import stored_ticks
from tests.monitoring.tick_factory import make_tick

AT_MS = 1_760_000_000_000


def test_a_cluster_is_late_when_its_flush_fails_for_three_minutes(redis_server):
    flush_state.note_begun("a", AT_MS)
    flush_state.note_failed("a", OSError(28, "No space left on device"))
    flush_state.note_begun("a", AT_MS + 60_000)
    assert flush_state.late(["a", "b"], AT_MS + LATE_MS - 1) == []
    [found] = flush_state.late(["a", "b"], AT_MS + LATE_MS)
    assert (found.slug, found.since_ms) == ("a", AT_MS)
    assert "no space is left for the history" in found.why


def test_a_flush_that_hangs_makes_its_cluster_late_without_a_reason(redis_server):
    flush_state.note_begun("a", AT_MS)
    assert flush_state.late(["a"], AT_MS + LATE_MS) == [LateFlush("a", AT_MS, "")]


def test_a_cluster_is_not_late_any_more_when_a_flush_succeeded(redis_server):
    flush_state.note_begun("a", AT_MS)
    flush_state.note_failed("a", OSError("no bucket"))
    flush_state.note_done("a")
    assert flush_state.late(["a"], AT_MS + LATE_MS) == []


def test_a_flush_that_fails_says_why_until_one_succeeds(root, redis_server, monkeypatch):
    put_tick(make_tick(10, partitions=[{"topic": "a", "partition": 0}]))
    monkeypatch.setattr(locked_writer, "now_ms", lambda: AT_MS)
    root.write(b"", "cluster=local")  # a file where its folder must be
    locked_writer.flush(["local"])
    monkeypatch.setattr(locked_writer, "now_ms", lambda: AT_MS + 60_000)
    locked_writer.flush(["local"])
    [found] = flush_state.late(["local"], AT_MS + LATE_MS)
    assert found.since_ms == AT_MS
    assert found.why.startswith("a file of the history cannot be read or written: ")
    root.delete_file("cluster=local")
    locked_writer.flush(["local"])
    assert flush_state.late(["local"], AT_MS + LATE_MS) == []
    assert stored_ticks("local") == [10]
