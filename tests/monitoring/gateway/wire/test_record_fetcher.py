"""Fetches from a real cluster of two brokers."""

from monitoring.gateway.wire.record_fetcher import RecordFetcher

TIMEOUT_S, WAIT_MS, BYTES = 5.0, 100, 1 << 16


async def test_after_a_change_of_the_leader_the_new_one_is_asked(live_cluster):
    live_cluster.create_topic("fetcher.moved", 2)
    live_cluster.produce("fetcher.moved", {0: 5, 1: 5})
    fetcher = RecordFetcher(live_cluster.row().kafka_client_settings(), "fetcher.moved")
    try:
        await fetcher.find_leaders(TIMEOUT_S)
        right = dict(fetcher.leaders)
        assert right[0] != right[1]
        fetcher.leaders = {0: right[1], 1: right[0]}  # as if both had moved since
        fetched = await fetcher.fetch(0, 0, BYTES, TIMEOUT_S, WAIT_MS)
    finally:
        await fetcher.close()
    assert fetched.records
    assert fetcher.leaders == right
