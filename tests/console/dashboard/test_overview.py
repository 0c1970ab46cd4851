"""The figures of the overview."""

from console.accounts.rights import rights_of
from console.dashboard import overview
from console.live import snapshot_cache
from monitoring.partial_sum import PartialSum
from tests.console.conftest import BROKERS, PARTITIONS, a_user, sample, sample_next


def test_idle_topics_stay_in_the_list(local, admin):
    rights = rights_of(admin, local)
    before = overview.context(local, rights)["busiest_topics"]
    busy = [row | {"log_end_offset": 900} for row in PARTITIONS if row["topic"] == "orders"]
    sample_next(partitions=[*PARTITIONS[len(busy) :], *busy])
    snapshot_cache.refresh("local")
    after = overview.context(local, rights)["busiest_topics"]
    assert len(before) == len(after) == 3
    assert after[0][0].name == "orders"


def test_the_largest_topics_come_first_with_their_shares(local, admin):
    sizes = {"small": 10, "large": 70, "middle": 20, "unknown": None}
    rows = [
        PARTITIONS[0] | {"topic": name, "replicas_size_bytes": size,
                         "replicas_reported": 0 if size is None else 1}
        for name, size in sizes.items()
    ]  # fmt: skip
    rights = rights_of(admin, local)
    number = sample_next(partitions=rows[:3])
    snapshot_cache.refresh("local")
    found = overview.context(local, rights)["largest_topics"]
    assert [(row.name, share) for row, share, _ in found] == [
        ("large", 0.7), ("middle", 0.2), ("small", 0.1),
    ]  # fmt: skip
    sample(number=number + 1, partitions=rows)
    snapshot_cache.refresh("local")
    found = overview.context(local, rights)["largest_topics"]
    assert [(row.name, share) for row, share, _ in found] == [
        ("large", None), ("middle", None), ("small", None), ("unknown", None),
    ], "the size of all topics is unknown"  # fmt: skip


def test_idle_topics_are_listed_by_their_last_record_without_empty_and_internal_ones(local, admin):
    times = {"old": 1000, "older": 900, "empty": None, "waiting": 800, "__internal": 700}
    rows = [
        PARTITIONS[0]
        | {"topic": name, "last_record_ms": at, "has_newer_records": name == "waiting"}
        for name, at in times.items()
    ]
    sample_next(partitions=rows)
    snapshot_cache.refresh("local")
    found = overview.context(local, rights_of(admin, local))["idle_topics"]
    assert [row.name for row in found] == ["older", "old"]


def test_the_fullest_broker_and_the_space_left_are_told(local, admin, client_of):
    brokers = [
        BROKERS[0] | {"id": number, "disk_total_bytes": 100, "disk_free_bytes": free}
        for number, free in ((1, 40), (2, 10), (3, None))
    ]
    sample_next(brokers=brokers)
    snapshot_cache.refresh("local")
    context = overview.context(local, rights_of(admin, local))
    assert (context["fullest"]["id"], context["fullest"]["tone"]) == (2, "warning")
    assert context["totals"].disk_free_bytes == PartialSum(50, 1, 3, "brokers")
    page = client_of(admin).get("/c/local/").content.decode()
    assert "full on broker 2" in page
    assert "Largest topics" in page
    assert "Idle longest" in page


def test_topics_outside_of_the_scope_are_in_no_list(local):
    user = a_user("narrow", "viewer", topics=["mine*"])
    rows = [
        PARTITIONS[0] | {"topic": name, "last_record_ms": 5, "has_newer_records": False}
        for name in ("mine", "yours")
    ]
    number = sample_next(partitions=rows)
    grown = {"log_end_offset": 900, "messages_in": 900}
    sample(number=number + 1, partitions=[rows[0], rows[1] | grown])
    snapshot_cache.refresh("local")
    context = overview.context(local, rights_of(user, local))
    assert [row.name for row, *_ in context["largest_topics"]] == ["mine"]
    assert [row.name for row in context["idle_topics"]] == ["mine"]
    totals = context["totals"]
    assert (totals.topics_active, totals.topics_idle) == (0, 1)
