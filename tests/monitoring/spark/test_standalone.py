"""The same hour on the embedded Spark and on a standalone cluster, through Spark Connect."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from monitoring.history import append_ticks, read_levels
from monitoring.history.levels import HOUR_MS, MINUTE_MS, RAW
from monitoring.history.root_folder import Root, current
from monitoring.spark import history_tables
from monitoring.spark.jobs.roll_up_and_merge import RollUp, roll_up
from monitoring.spark.jobs.time_slices import SourceFile
from monitoring.spark.server_config import SparkConfig, token
from monitoring.spark.session import open_session
from monitoring.spark.transforms.buckets import buckets_of
from tests.monitoring.pipeline.made_history import START_MS, ticks, write
from tests.support.ports import free_port
from tests.support.spark import SparkServer
from tests.support.spark_standalone import (
    SECRET,
    WORKERS,
    standalone_master,
    workers_with_tasks,
)

pytestmark = pytest.mark.spark
TABLES = ("partitions", "groups")


def connect_to(server: SparkServer) -> SparkConfig:
    """What SPARK_REMOTE says of a Spark Connect server that is not the stack's own."""
    key = token(server.config.token_file)
    url = f"sc://localhost:{server.config.port}/;token={key}"
    return SparkConfig(home=server.config.home / "unused", port=1, remote=url)


@pytest.fixture
def cluster(tmp_path):
    """The folder of a standalone cluster, and the configuration of a client of it."""
    folder, home = tmp_path / "cluster", tmp_path / "data" / "spark"
    home.mkdir(parents=True)
    with standalone_master(folder) as url:
        config = SparkConfig(home=home, port=free_port(), master=url)
        config.cluster_secret_file.write_text(SECRET)
        server = SparkServer(config)
        server.start()
        try:
            server.wait_until_ready()
            yield folder, connect_to(server)
        finally:
            server.stop()


@pytest.fixture
def root(tmp_path, settings):
    """Several raw files of an hour."""
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    append_ticks._changes_by_cluster.clear()
    made = ticks(8, hours=1)
    for first in range(0, len(made), 2):
        write(current(), made[first : first + 2])
    return current()


def minutes(config: SparkConfig, root: Root, folder: Path) -> dict[str, Path]:
    """Roll the hour up into `folder`; table → its file."""
    found, end_ms = {}, START_MS + HOUR_MS
    of_hour = read_levels.ticks(root, "local", RAW, START_MS, end_ms)
    buckets = buckets_of(of_hour, is_raw=True)
    with open_session(config) as spark:
        for table in TABLES:
            listed = read_levels.files(root, "local", RAW, table, START_MS, end_ms)
            files = [
                SourceFile(
                    root.location(*at.folder, file.name), file.rows, file.min_at_ms, file.max_at_ms
                )
                for at, file in listed
            ]
            assert len(files) > WORKERS
            output = str(folder / table)
            roll_up(spark, RollUp(table, True, files, buckets, MINUTE_MS, end_ms, output))
            [found[table]] = (folder / table).glob("*.parquet")
    return found


def columns(file: Path) -> tuple[bytes, str]:
    """All columns of a file as bytes, and the schema.

    Without the footer: there Java lists the encodings of a column in an order that is another one
    in each process.
    """
    data = file.read_bytes()
    footer_size = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - footer_size], str(pq.read_schema(file))


def test_a_standalone_cluster_writes_the_same_bytes_as_the_embedded_spark(
    spark_server, cluster, root, tmp_path, monkeypatch
):
    monkeypatch.setattr(history_tables, "_SMALL_ROWS", 0)  # so that the work is divided
    folder, remote = cluster
    embedded = minutes(spark_server, root, tmp_path / "embedded")
    standalone = minutes(remote, root, tmp_path / "standalone")
    for table in TABLES:
        assert pq.read_table(embedded[table]).num_rows > 0
        assert pq.read_table(standalone[table]).equals(pq.read_table(embedded[table]))
        assert columns(standalone[table]) == columns(embedded[table])
    assert workers_with_tasks(folder) == WORKERS
