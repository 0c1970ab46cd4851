import pyarrow as pa

from monitoring.reports.charts import throughput_and_lag_charts

MINUTE = 60_000


def tables(topic_rows: list[dict], group_rows: list[dict]) -> dict[str, pa.Table]:
    topic = pa.schema(
        [
            ("topic", pa.string()),
            ("bucket_ms", pa.int64()),
            ("messages_per_minute", pa.float64()),
            ("bytes_per_minute", pa.float64()),
        ]
    )
    group = pa.schema([("group", pa.string()), ("bucket_ms", pa.int64()), ("lag_max", pa.int64())])
    return {
        "topic_series": pa.Table.from_pylist(topic_rows, schema=topic),
        "group_series": pa.Table.from_pylist(group_rows, schema=group),
    }


def test_a_bucket_without_samples_is_a_null_in_the_line() -> None:
    rows = [
        {"topic": "a", "bucket_ms": 0, "messages_per_minute": 1.0},
        {"topic": "a", "bucket_ms": 3 * MINUTE, "messages_per_minute": 2.0},
        {"topic": "b", "bucket_ms": 1 * MINUTE, "messages_per_minute": 0.0},
    ]
    chart = throughput_and_lag_charts(tables(rows, []), {"bucket_ms": MINUTE})["messages"]
    assert chart["series"] == [
        {"name": "a", "x": [0, 60_000, 120_000, 180_000], "y": [1.0, None, None, 2.0]},
        {"name": "b", "x": [0, 60_000, 120_000, 180_000], "y": [None, 0.0, None, None]},
    ]


def test_what_is_known_nowhere_is_not_drawn() -> None:
    rows = [{"topic": "a", "bucket_ms": 0, "messages_per_minute": 3.0}]
    charts = throughput_and_lag_charts(tables(rows, []), {"bucket_ms": MINUTE})
    assert charts["bytes"]["series"] == []
    assert charts["lag"]["series"] == []


def test_the_lag_chart_shows_the_highest_of_each_bucket() -> None:
    rows = [{"group": "g", "bucket_ms": 0, "lag_max": 7}]
    chart = throughput_and_lag_charts(tables([], rows), {"bucket_ms": MINUTE})["lag"]
    assert chart == {
        "kind": "line",
        "unit": "messages",
        "series": [{"name": "g", "x": [0], "y": [7]}],
    }
