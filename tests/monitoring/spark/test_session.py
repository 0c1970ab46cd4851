import dataclasses
import threading
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from monitoring.spark.server_config import SparkConfig
from monitoring.spark.session import SparkStarting, SparkUnavailable, open_session, remote_url
from tests.support.ports import free_port


def test_a_server_that_does_not_listen_yet_is_starting(tmp_path: Path) -> None:
    with pytest.raises(SparkStarting) as caught:
        with open_session(SparkConfig(home=tmp_path, port=free_port())):
            pass
    assert caught.value.retriable


def test_the_url_of_a_remote_server_is_used_unchanged(tmp_path: Path) -> None:
    config = SparkConfig(home=tmp_path, port=1, remote="sc://spark.example:15002/;use_ssl=true")
    assert remote_url(config) == "sc://spark.example:15002/;use_ssl=true"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_the_error_for_a_wrong_token_says_so(spark_server: SparkConfig, tmp_path: Path) -> None:
    (tmp_path / "connect.token").write_text("wrong")
    with pytest.raises(SparkUnavailable, match="refused the token") as caught:
        with open_session(dataclasses.replace(spark_server, home=tmp_path)):
            pass
    assert not caught.value.retriable


@pytest.mark.spark
def test_a_client_without_a_token_is_refused(spark_server: SparkConfig) -> None:
    without = dataclasses.replace(spark_server, remote=f"sc://localhost:{spark_server.port}")
    with pytest.raises(SparkUnavailable, match="refused the token") as caught:
        with open_session(without):
            pass
    assert not caught.value.retriable


@pytest.mark.spark
def test_sessions_do_not_see_each_others_views(spark_server: SparkConfig) -> None:
    with open_session(spark_server) as first, open_session(spark_server) as second:
        first.range(1).createOrReplaceTempView("mine")
        assert first.catalog.tableExists("mine")
        assert not second.catalog.tableExists("mine")


@pytest.mark.spark
def test_a_query_is_cancelled_by_its_tag(spark_server: SparkConfig) -> None:
    with open_session(spark_server) as session:
        started = threading.Event()
        # A query is only worth interrupting once the server runs tasks of it.
        session.registerProgressHandler(
            lambda inflight_tasks, **_: inflight_tasks and started.set()
        )
        session.addTag("slow")
        threading.Thread(target=_interrupt, args=(session, started), daemon=True).start()
        with pytest.raises(PySparkException, match=r"CANCELED"):
            session.sql("select count(*) from range(20000000000) where hash(id) = 7").collect()
        # Its tasks are gone as well: the next query need not wait for them.
        assert session.range(10).count() == 10


def _interrupt(session: SparkSession, started: threading.Event) -> None:
    started.wait(30)
    session.interruptTag("slow")
