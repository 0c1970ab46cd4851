"""The roll-up of `group_partitions` from raw rows as SQL for DuckDB."""

from collections.abc import Sequence

import pyarrow as pa

from monitoring.spark.transforms.buckets import Bucket

# Each tick with its bucket, and the ticks behind it in that bucket; each bucket with its totals.
_TICKS = """
CREATE OR REPLACE TEMP TABLE fine AS
SELECT at_ms, at_ms - at_ms % {bucket_ms} AS bucket, samples AS n, rated_ms AS d,
       coalesce(sum(samples) OVER behind, 0)::BIGINT AS n_after,
       coalesce(sum(rated_ms) OVER behind, 0)::BIGINT AS d_after
FROM ticks
WINDOW behind AS (PARTITION BY at_ms - at_ms % {bucket_ms} ORDER BY at_ms
                  ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING);
CREATE OR REPLACE TEMP TABLE coarse AS
SELECT bucket, sum(n)::BIGINT AS n, sum(d)::BIGINT AS d, min(at_ms) FILTER (n > 0) AS first_ms
FROM fine GROUP BY bucket;
"""
_ROLL_UP = """
COPY (
  WITH raw AS (
    SELECT *, (state_before & 1)::BIGINT AS e0, (state & 1)::BIGINT AS e1,
           (state_before >> 1 & 1)::BIGINT AS k0, (state >> 1 & 1)::BIGINT AS k1,
           (rated & 2) <> 0 AS is_rated,
           (lag_before IS NOT NULL)::BIGINT AS g0, (lag IS NOT NULL)::BIGINT AS g1,
           coalesce(lag_before, 0) AS v0, coalesce(lag, 0) AS v1
    FROM read_parquet($files) JOIN fine USING (at_ms)
  ), found AS (
    SELECT bucket, "group", topic, "partition", min(at_ms) AS first_row_ms,
           bool_and(repeated) AS repeated,
           arg_min(state_before, at_ms) AS state_before, arg_max(state, at_ms) AS state,
           sum(e1 - e0 * n + (e1 - e0) * n_after)::BIGINT AS samples,
           arg_max(committed_offset, at_ms) AS committed_offset,
           arg_max(log_end_offset, at_ms) AS log_end_offset,
           arg_min_null(lag_before, at_ms) AS lag_before, arg_max_null(lag, at_ms) AS lag_last,
           min(lag) AS lag_low, max(lag) AS lag_high,
           sum(v1 - v0 * n + (v1 - v0) * n_after)::BIGINT AS lag_sum,
           sum(g1 - g0 * n + (g1 - g0) * n_after)::BIGINT AS lag_samples,
           sum(consumed)::BIGINT AS consumed,
           sum(CASE WHEN is_rated THEN consumed ELSE 0 END)::BIGINT AS consumed_rated,
           sum(CASE WHEN is_rated THEN d ELSE 0 END)::BIGINT AS rows_ms,
           sum(CASE WHEN is_rated THEN d ELSE 0 END - k0 * d + (k1 - k0) * d_after)::BIGINT AS ms,
           min(CASE WHEN is_rated THEN consumed::DOUBLE * 1000.0 / d END) AS low,
           max(CASE WHEN is_rated THEN consumed::DOUBLE * 1000.0 / d END) AS high
    FROM raw GROUP BY ALL
  ), whole AS (
    SELECT found.*, coarse.n, coarse.first_ms,
           ms + (state_before >> 1 & 1)::BIGINT * coarse.d AS rated_ms
    FROM found JOIN coarse USING (bucket)
  )
  SELECT bucket AS at_ms, "group", topic, "partition", repeated, state_before, state,
         samples + (state_before & 1)::BIGINT * n AS samples, committed_offset, log_end_offset,
         lag_before, lag_last,
         least(lag_low, CASE WHEN first_ms < first_row_ms THEN lag_before END) AS lag_low,
         greatest(lag_high, CASE WHEN first_ms < first_row_ms THEN lag_before END) AS lag_high,
         lag_sum + coalesce(lag_before, 0) * n AS lag_sum,
         lag_samples + (lag_before IS NOT NULL)::BIGINT * n AS lag_samples,
         consumed, consumed_rated, rated_ms AS consumed_rated_ms,
         least(low, CASE WHEN rated_ms > rows_ms THEN 0.0::DOUBLE END) AS consumed_low,
         greatest(high, CASE WHEN rated_ms > rows_ms THEN 0.0::DOUBLE END) AS consumed_high
  FROM whole ORDER BY "group", topic, "partition", bucket
) TO '{output}' (FORMAT parquet, COMPRESSION zstd)
"""


def run_duckdb(
    files: Sequence[str], buckets: Sequence[Bucket], bucket_ms: int, cores: int, output: str
) -> None:
    """Roll the raw rows up to one sorted file. Raises duckdb.Error."""
    import duckdb  # only of the bench, so it may be missing

    with duckdb.connect(config={"threads": cores}) as connection:
        rows = [(bucket.at_ms, bucket.samples, bucket.rated_ms) for bucket in buckets]
        columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
        ticks = pa.table(columns, names=["at_ms", "samples", "rated_ms"])
        connection.register("ticks", ticks)
        connection.execute(_TICKS.format(bucket_ms=bucket_ms))
        connection.execute(_ROLL_UP.replace("{output}", output), {"files": list(files)})
