"""A session on the Spark Connect server: opened with a bound, closed for sure.

Spark is not waited for when the product starts, so "not there yet" is an ordinary answer:
`SparkStarting` (retriable). The server is asked first by a plain TCP connect and then by one
small request; only then is a session handed out, with a retry policy of seconds instead of the
library's ten minutes. Each report has a session of its own: nothing of one is seen by another.

No `sparkContext`, RDD or `_jvm` anywhere: what runs here runs on any server that
`SPARK_REMOTE` names.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from monitoring.spark.config import SparkConfig, token

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT_S = 2.0
# What a query fails with when the server went away, is being stopped, or is another by now.
_LOST = (
    "UNAVAILABLE", "SESSION_NOT_FOUND", "SESSION_CHANGED", "stopped SparkContext",
    "SparkContext was shut down", "SparkContext has been shutdown",
)  # fmt: skip

# pyspark logs each failed query with the server's whole stack; we log what we make of it.
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


class SparkUnavailable(Exception):
    """No session. `retriable` says whether asking again later can help."""

    retriable = False


class SparkStarting(SparkUnavailable):
    """Nothing listens there (yet)."""

    retriable = True


def remote_url(config: SparkConfig) -> str:
    """The `sc://` URL of the server, with the token when it is ours.

    Ours is named `localhost`: for that name alone does the client send a token without TLS.
    """
    if config.remote:
        return config.remote
    return f"sc://localhost:{config.port}/;token={token(config.token_file)}"


def check_reachable(url: str, timeout_s: float = CONNECT_S) -> None:
    """Raises SparkStarting when nothing accepts a connection in this time."""
    parts = urlsplit(url)
    host, port = parts.hostname or "localhost", parts.port or 15002
    try:
        socket.create_connection((host, port), timeout=timeout_s).close()
    except OSError as error:
        raise SparkStarting(f"Spark does not answer on {host}:{port} yet.") from error


def is_answering(config: SparkConfig) -> bool:
    """Whether something listens there, for a page that wants to say so: cheap and short."""
    try:
        check_reachable(config.remote or f"sc://localhost:{config.port}", timeout_s=0.3)
    except SparkStarting:
        return False
    return True


@contextmanager
def open_session(config: SparkConfig) -> Iterator[SparkSession]:
    """A new session, ended on the way out.

    Raises SparkStarting, or SparkUnavailable when the server refuses us (a wrong token …).
    """
    url = remote_url(config)
    check_reachable(url)
    # Imported late: gRPC must not be alive in a process that is going to fork.
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session = SparkSession.builder.remote(url).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=4, max_backoff=2000)])
    try:
        try:
            session.conf.set("spark.sql.session.timeZone", "UTC")
        except PySparkException as error:
            raise _refusal(error) from error
        yield session
    finally:
        with suppress(Exception):  # the session also ends by its own time-out
            session.stop()


def lost_session(error: Exception) -> SparkStarting | None:
    """SparkStarting if it was not the query that failed, but the server that was lost."""
    text = str(error)
    if any(word in text for word in _LOST):
        return SparkStarting("Spark was restarted.")
    return None


def _refusal(error: Exception) -> SparkUnavailable:
    text = str(error)
    if "UNAVAILABLE" in text:
        return SparkStarting("Spark accepts connections but does not answer yet.")
    if "UNAUTHENTICATED" in text or "Invalid authentication token" in text:
        return SparkUnavailable("Spark refused our token. Restart it, or correct SPARK_REMOTE.")
    return SparkUnavailable(f"Spark refused the session: {text.splitlines()[0][:200]}")
