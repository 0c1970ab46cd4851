"""Checks in a background thread whether Spark Connect answers a small call.

The call reads a setting in a session. It uses gRPC directly: pyspark would load 100 MB into the web
process. The request is the message `ConfigRequest` of spark/connect/base.proto, encoded here.

`SparkProbe` keeps the latest result. Reading a result that is too old starts the next call, in a
thread. So no page waits for Spark, and no calls are made while nobody reads the result.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

from monitoring.clock import now_ms
from monitoring.spark.server_config import SparkConfig, from_settings
from monitoring.spark.session import SparkStarting, check_reachable, host_and_port, remote_url

DEADLINE_S = 10.0  # a JVM that is busy with a report answers much faster
REFRESH_AFTER_S = 10.0
log = logging.getLogger(__name__)
_STANDALONE = "spark://"
_METHOD = "/spark.connect.SparkConnectService/Config"


class SparkState(StrEnum):
    """The result of a call."""

    OK = "ok"
    ABSENT = "absent"  # nothing listens on the port
    NO_MASTER = "no master"  # nothing listens, and the master that it needs cannot be reached
    FROZEN = "frozen"  # accepts connections but does not answer
    REFUSED = "refused"  # the token is wrong
    UNKNOWN = "unknown"  # no call has finished yet


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """A state, and when it began."""

    state: SparkState = SparkState.UNKNOWN
    since_ms: int = 0


def probe(config: SparkConfig, session_id: str, deadline_s: float = DEADLINE_S) -> SparkState:
    """Make the call. If Spark is frozen, it takes until the deadline."""
    try:
        check_reachable(config.server_url)
    except SparkStarting as error:
        # A frozen server does not accept connections; the kernel's queue for them can become full.
        if isinstance(error.__cause__, TimeoutError):
            return SparkState.FROZEN
        return SparkState.ABSENT if _has_master(config) else SparkState.NO_MASTER
    url = remote_url(config)
    import grpc  # imported late: gRPC must not run in a process that forks later

    with _channel(grpc, url) as channel:
        call = channel.unary_unary(_METHOD)
        token = _parameters(url).get("token", "")
        metadata = [("authorization", f"Bearer {token}")] if token else []
        try:
            call(config_request(session_id), timeout=deadline_s, metadata=metadata)
        except grpc.RpcError as error:
            return _state_of_error(grpc, error.code())
    return SparkState.OK


def _has_master(config: SparkConfig) -> bool:
    """Whether a standalone master accepts connections, if the embedded server needs one: the server
    listens only when it has registered there."""
    if config.remote or not config.master.startswith(_STANDALONE):
        return True
    for server in config.master.removeprefix(_STANDALONE).split(","):
        try:
            check_reachable(_STANDALONE + server)
        except SparkStarting:
            continue
        return True
    return False


def missing_address(config: SparkConfig, state: SparkState) -> str:
    """What cannot be reached in this state: the master's URL, or the server's host and port."""
    if state is SparkState.NO_MASTER:
        return config.master
    return _address(config.server_url)


def _address(url: str) -> str:
    host, port = host_and_port(url)
    return f"{host}:{port}"


def _state_of_error(grpc: Any, code: Any) -> SparkState:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return SparkState.FROZEN
    if code is grpc.StatusCode.UNAVAILABLE:
        return SparkState.ABSENT
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return SparkState.REFUSED
    return SparkState.OK  # any other error is an answer


def _channel(grpc: Any, url: str) -> Any:
    target = _address(url)
    if _parameters(url).get("use_ssl", "").lower() == "true":
        return grpc.secure_channel(target, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(target)


def _parameters(url: str) -> dict[str, str]:
    """The parameters of `sc://host:port/;name=value;name=value`."""
    pairs = (part.partition("=") for part in urlsplit(url).path.lstrip("/").split(";"))
    return {name: unquote(value) for name, _, value in pairs if name}


def config_request(session_id: str) -> bytes:
    """ConfigRequest: session_id = 1, user_context.user_id = 2.1, operation.get.keys = 3.2.1."""
    key = _field(1, b"spark.sql.session.timeZone")
    return (
        _field(1, session_id.encode()) + _field(2, _field(1, b"aerie")) + _field(3, _field(2, key))
    )


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited Protocol Buffers field of less than 128 bytes."""
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


class SparkProbe:
    """The latest result, shared by all threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_result = threading.Event()  # and it is recent
        self._is_probing = False
        self._probed_at_s = -1e9
        self._result = ProbeResult()
        self._session_id = str(uuid.uuid4())  # one session for all calls

    def latest(self, wait_s: float = 0.0) -> ProbeResult:
        """The latest result. If it is old, start a new call and wait for it at most `wait_s`."""
        with self._lock:
            age_s = time.monotonic() - self._probed_at_s
            if age_s > REFRESH_AFTER_S and not self._is_probing:
                self._is_probing = True
                threading.Thread(target=self._run, name="spark-probe", daemon=True).start()
            if age_s > REFRESH_AFTER_S + 2 * DEADLINE_S:
                self._has_result.clear()
        if wait_s:
            self._has_result.wait(wait_s)
        with self._lock:
            return self._result if self._has_result.is_set() else ProbeResult()

    def _run(self) -> None:
        state = SparkState.UNKNOWN
        try:
            state = probe(from_settings(), self._session_id)
        except Exception:
            log.exception("the probe of Spark failed")
        with self._lock:
            self._is_probing = False
            self._probed_at_s = time.monotonic()
            if state is not self._result.state:
                self._result = ProbeResult(state, now_ms())
            self._has_result.set()


spark_probe = SparkProbe()
