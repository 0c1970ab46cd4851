"""Opens sessions on the Spark Connect server, with short time-outs, and closes them.

The stack does not wait for Spark when it starts, so Spark may not be available yet: `SparkStarting`
(retriable). `open_session` first makes a TCP connection and then one small request. Only then it
yields a session, with a retry policy of seconds instead of the library's ten minutes. Each report
has its own session and cannot see another's.

The code uses no `sparkContext`, RDD or `_jvm`, so it runs on any server that `SPARK_REMOTE` names.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from monitoring.spark.server_config import SparkConfig, token

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT_S = 2.0
# Parts of error messages when the server stopped, is stopping, or was restarted.
_SESSION_LOST_MESSAGES = (
    "UNAVAILABLE",
    "SESSION_NOT_FOUND",
    "SESSION_CHANGED",
    "stopped SparkContext",
    "SparkContext was shut down",
    "SparkContext has been shutdown",
)

# pyspark logs each failed query with the server's whole stack trace; callers log a short line.
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


class SparkUnavailable(Exception):
    """No session could be opened. `retriable`: whether to try again later."""

    retriable = False


class SparkStarting(SparkUnavailable):
    """Spark does not accept connections yet."""

    retriable = True


def remote_url(config: SparkConfig) -> str:
    """The `sc://` URL of the server, with the embedded server's token."""
    if config.remote:
        return config.remote
    return f"{config.server_url}/;token={token(config.token_file)}"


def host_and_port(url: str) -> tuple[str, int]:
    """Those of a server's URL; without a port, Spark Connect's default."""
    parts = urlsplit(url)
    return parts.hostname or "localhost", parts.port or 15002


def check_reachable(url: str, timeout_s: float = CONNECT_S) -> None:
    """Raises SparkStarting if no connection is accepted within `timeout_s`."""
    host, port = host_and_port(url)
    try:
        socket.create_connection((host, port), timeout=timeout_s).close()
    except OSError as error:
        raise SparkStarting(f"Spark does not answer on {host}:{port} yet.") from error


def is_reachable(config: SparkConfig) -> bool:
    """Whether Spark accepts connections; a fast check for pages."""
    try:
        check_reachable(config.server_url, timeout_s=0.3)
    except SparkStarting:
        return False
    return True


@contextmanager
def open_session(config: SparkConfig) -> Iterator[SparkSession]:
    """A new session, closed at the end.

    Raises SparkStarting, or SparkUnavailable if the server refuses (a wrong token, for example).
    """
    url = remote_url(config)
    check_reachable(url)
    # Imported late: gRPC must not run in a process that forks later.
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session = SparkSession.builder.remote(url).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=4, max_backoff=2000)])
    try:
        try:
            session.conf.set("spark.sql.session.timeZone", "UTC")
        except PySparkException as error:
            raise _session_error(error) from error
        yield session
    finally:
        with suppress(Exception):  # the server's time-out also ends the session
            session.stop()


def session_lost_error(error: Exception) -> SparkStarting | None:
    """SparkStarting if the query failed because the server was lost; else None."""
    text = str(error)
    if any(word in text for word in _SESSION_LOST_MESSAGES):
        return SparkStarting("Spark was restarted.")
    return None


def _session_error(error: Exception) -> SparkUnavailable:
    text = str(error)
    if "UNAVAILABLE" in text:
        return SparkStarting("Spark accepts connections but does not answer yet.")
    if "UNAUTHENTICATED" in text or "Invalid authentication token" in text:
        return SparkUnavailable("Spark refused the token. Restart it, or correct SPARK_REMOTE.")
    return SparkUnavailable(f"Spark refused the session: {text.splitlines()[0][:200]}")
