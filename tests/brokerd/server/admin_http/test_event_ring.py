"""The ring of events."""

from brokerd.server.admin_http.event_ring import KEPT, EventRing


def test_events_come_after_an_id_oldest_first() -> None:
    ring = EventRing(lambda: 5)
    ring.add("roll", {"topic": "t", "partition": 2, "base_offset": 9})
    ring.add("start", {})
    first, second = ring.after(0, 10)
    assert first == (1, 5, "roll", "t", 2, {"base_offset": 9})
    assert (second.topic, second.partition, second.detail) == (None, -1, {})
    assert ring.after(1, 10) == [second]
    assert ring.after(0, 1) == [first]
    assert ring.after(0, -1) == []


def test_the_oldest_go_when_it_is_full() -> None:
    ring = EventRing(lambda: 0)
    for _ in range(KEPT + 5):
        ring.add("x", {})
    kept = ring.after(0, KEPT * 2)
    assert (kept[0].id, kept[-1].id, len(kept)) == (6, KEPT + 5, KEPT)
