"""Whether Spark Connect answers, not only accepts connections: one small call, asked aside.

The call is real (it reads a setting within a session of ours), and is made with gRPC alone: what
pyspark loads for it is a hundred megabytes, which a web process has no other use for. Its request
is the message `ConfigRequest` of spark/connect/base.proto, written here.

`Watch` keeps what was found last. Whoever asks starts the next look, in a thread, if the last one
is old; so nobody waits for Spark, and Spark is left alone while nobody wants to know.
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
from monitoring.spark.config import SparkConfig, from_settings
from monitoring.spark.session import SparkStarting, check_reachable, remote_url

DEADLINE_S = 10.0  # a JVM that is busy with a report answers in far less
AGAIN_S = 10.0
log = logging.getLogger(__name__)
_METHOD = "/spark.connect.SparkConnectService/Config"


class SparkState(StrEnum):
    """What came of a look."""

    OK = "ok"
    ABSENT = "absent"  # nothing listens there (yet)
    FROZEN = "frozen"  # it takes connections and answers nothing
    REFUSED = "refused"  # our token
    UNKNOWN = "unknown"  # nobody has looked yet


@dataclass(frozen=True, slots=True)
class Look:
    """A state, and since when it is so."""

    state: SparkState = SparkState.UNKNOWN
    since_ms: int = 0


def ask(config: SparkConfig, session_id: str, deadline_s: float = DEADLINE_S) -> SparkState:
    """Make the call. Takes as long as the deadline, where Spark is frozen."""
    try:
        check_reachable(config.remote or f"sc://localhost:{config.port}")
    except SparkStarting as error:
        # The kernel's queue of connections that a frozen server did not take is full at last.
        return SparkState.FROZEN if isinstance(error.__cause__, TimeoutError) else SparkState.ABSENT
    url = remote_url(config)
    import grpc  # late: it must not be alive in a process that is going to fork

    with _channel(grpc, url) as channel:
        call = channel.unary_unary(_METHOD)
        token = _parameters(url).get("token", "")
        metadata = [("authorization", f"Bearer {token}")] if token else []
        try:
            call(config_request(session_id), timeout=deadline_s, metadata=metadata)
        except grpc.RpcError as error:
            return _meaning(grpc, error.code())
    return SparkState.OK


def _meaning(grpc: Any, code: Any) -> SparkState:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return SparkState.FROZEN
    if code is grpc.StatusCode.UNAVAILABLE:
        return SparkState.ABSENT
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return SparkState.REFUSED
    return SparkState.OK  # whatever it said, it answered


def _channel(grpc: Any, url: str) -> Any:
    parts = urlsplit(url)
    target = f"{parts.hostname}:{parts.port or 15002}"
    if _parameters(url).get("use_ssl", "").lower() == "true":
        return grpc.secure_channel(target, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(target)


def _parameters(url: str) -> dict[str, str]:
    """Of `sc://host:port/;name=value;name=value`."""
    pairs = (part.partition("=") for part in urlsplit(url).path.lstrip("/").split(";"))
    return {name: unquote(value) for name, _, value in pairs if name}


def config_request(session_id: str) -> bytes:
    """ConfigRequest: session_id = 1, user_context.user_id = 2.1, operation.get.keys = 3.2.1."""
    key = _field(1, b"spark.sql.session.timeZone")
    return (
        _field(1, session_id.encode()) + _field(2, _field(1, b"aerie")) + _field(3, _field(2, key))
    )


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited field of Protocol Buffers; ours are shorter than 128 bytes."""
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


class Watch:
    """The last look at Spark, shared by all threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked = threading.Event()  # at least once, and lately
        self._looking = False
        self._at_s = -1e9
        self._look = Look()
        self._session_id = str(uuid.uuid4())  # one, however often it is asked

    def look(self, wait_s: float = 0.0) -> Look:
        """What was found last. Where that is long ago, at most `wait_s` are given to a new look."""
        with self._lock:
            age_s = time.monotonic() - self._at_s
            if age_s > AGAIN_S and not self._looking:
                self._looking = True
                threading.Thread(target=self._ask, name="spark-probe", daemon=True).start()
            if age_s > AGAIN_S + 2 * DEADLINE_S:
                self._looked.clear()
        if wait_s:
            self._looked.wait(wait_s)
        with self._lock:
            return self._look if self._looked.is_set() else Look()

    def _ask(self) -> None:
        state = SparkState.UNKNOWN
        try:
            state = ask(from_settings(), self._session_id)
        except Exception:
            log.exception("Spark could not be asked")
        with self._lock:
            self._looking = False
            self._at_s = time.monotonic()
            if state is not self._look.state:
                self._look = Look(state, now_ms())
            self._looked.set()


watch = Watch()
