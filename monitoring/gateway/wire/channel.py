"""Requests to one broker: connects on demand, checks the broker's API versions, and logs in.

After a failure the next request has a short time-out, so that a broker that hangs delays the others
by RETRY_S at most. After a success the full time-out applies again.
"""

import asyncio
from collections.abc import Callable
from struct import Struct

from monitoring.clusters.kafka_client_settings import ClientSettings, TlsSettingsInvalid
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import ClusterUnavailable, OverLimit, Refused, Unsupported
from monitoring.gateway.wire import (
    fetch,
    groups,
    list_offsets,
    log_dirs,
    metadata,
    offset_fetch,
    response_limits,
    sasl_login,
)
from monitoring.gateway.wire.connection import ByteBudget, Connection, frame
from monitoring.gateway.wire.response_limits import LARGE_ANSWER_BYTES, check_limit

API_VERSIONS_KEY = 18
_SESSION_SHARE = 0.8  # of a session's lifetime; then a new connection logs in again
_RANGE = Struct(">hhh")
_API_VERSIONS_HEAD_BYTES = 10  # correlation id, error code, number of APIs
# The versions of each API that this package decodes, the preferred one first.
_VERSIONS: dict[int, tuple[tuple[int, ...], str]] = {
    metadata.API_KEY: (metadata.VERSIONS, "Metadata"),
    fetch.API_KEY: (fetch.VERSIONS, "Fetch"),
    list_offsets.API_KEY: ((list_offsets.VERSION,), "ListOffsets"),
    offset_fetch.API_KEY: ((offset_fetch.VERSION,), "OffsetFetch"),
    groups.LIST_KEY: ((groups.LIST_VERSION,), "ListGroups"),
    groups.DESCRIBE_KEY: ((groups.DESCRIBE_VERSION,), "DescribeGroups"),
    log_dirs.API_KEY: (log_dirs.VERSIONS, "DescribeLogDirs"),
}


class Channel:
    """Requests to one broker address. Use it on one event loop only."""

    def __init__(self, host: str, port: int, settings: ClientSettings, budget: ByteBudget) -> None:
        self.host, self.port = host, port
        self._settings, self._budget = settings, budget
        self._connection: Connection | None = None
        self._session_end_s: float | None = None  # time of the event loop
        self._connect_lock = asyncio.Lock()
        self._versions: dict[int, int] = {}
        self._offered: dict[int, tuple[int, int]] = {}  # all APIs of the broker
        self.failed = False  # whether the last request failed

    async def request(self, build_frame: Callable[[int], bytes], timeout_s: float) -> bytes:
        """Send the request frame `build_frame(correlation_id)`; returns the response.

        Raises ClusterUnavailable within about `timeout_s`, Unsupported, or OverLimit (also if a
        large response is not complete in time).
        """
        if self.failed:
            timeout_s = min(timeout_s, request_timeouts.RETRY_S)
        connection = None
        try:
            async with asyncio.timeout(timeout_s):
                connection = await self._connected(timeout_s)
                correlation_id = connection.next_correlation_id()
                answer = await connection.call(
                    correlation_id, build_frame(correlation_id), timeout_s
                )
        except (TimeoutError, ClusterUnavailable) as error:
            if connection is not None and connection.unfinished_bytes > LARGE_ANSWER_BYTES:
                size = connection.unfinished_bytes
                raise OverLimit(
                    Reason("answer_slow", size=size, seconds=f"{timeout_s:g}")
                ) from error
            self.failed = True
            why = error.message if isinstance(error, ClusterUnavailable) else Reason("timed_out")
            raise ClusterUnavailable(
                Reason("at_address", address=f"{self.host}:{self.port}", why=why)
            ) from error
        self.failed = False
        return answer

    async def _connected(self, timeout_s: float) -> Connection:
        async with self._connect_lock:
            if self._connection is None or not self._is_usable(self._connection):
                self.close()
                try:
                    tls = self._settings.ssl_context()
                except TlsSettingsInvalid as error:
                    raise Refused(Reason("tls_settings", why=str(error))) from error
                self._connection = await Connection.open(
                    self.host, self.port, timeout_s, self._budget, tls
                )
                try:
                    await self._check_versions(self._connection, timeout_s)
                    await self._log_in(self._connection, timeout_s)
                except BaseException:
                    self._connection.close()
                    raise
            return self._connection

    def _is_usable(self, connection: Connection) -> bool:
        end_s = self._session_end_s
        is_valid = end_s is None or asyncio.get_running_loop().time() < end_s
        return connection.usable and is_valid

    async def _log_in(self, connection: Connection, timeout_s: float) -> None:
        self._session_end_s = None
        if self._settings.sasl is None:
            return
        lifetime_ms = await sasl_login.authenticate(connection, self._settings.sasl, timeout_s)
        if lifetime_ms > 0:
            lifetime_s = lifetime_ms / 1000 * _SESSION_SHARE
            self._session_end_s = asyncio.get_running_loop().time() + lifetime_s

    async def _check_versions(self, connection: Connection, timeout_s: float) -> None:
        correlation_id = connection.next_correlation_id()
        request = frame(API_VERSIONS_KEY, 0, correlation_id, b"")
        answer = await connection.call(correlation_id, request, timeout_s)
        offered = {key: (low, high) for key, low, high in _RANGE.iter_unpack(_api_ranges(answer))}
        self._offered = offered
        for key, (versions, name) in _VERSIONS.items():
            low, high = offered.get(key, (0, -1))
            common = [version for version in versions if low <= version <= high]
            if not common:
                names = {"address": f"{self.host}:{self.port}", "api": name}
                raise Unsupported(Reason("old_version", **names, version=versions[-1]))
            self._versions[key] = common[0]

    async def require(self, api_key: int, name: str, timeout_s: float) -> None:
        """Raises Unsupported if the broker does not offer an API, or ClusterUnavailable."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._connected(timeout_s)
        except TimeoutError as error:
            address = f"{self.host}:{self.port}"
            why = Reason("timed_out")
            raise ClusterUnavailable(Reason("at_address", address=address, why=why)) from error
        if api_key not in self._offered:
            raise Unsupported(Reason("api_not_offered", api=name))

    def supports(self, api_key: int, version: int) -> bool:
        """Whether the broker offers a version. Call it after a request."""
        low, high = self._offered.get(api_key, (0, -1))
        return low <= version <= high

    def version(self, api_key: int) -> int:
        """The version of requests for an API. Call it from `build_frame` or after `request`."""
        return self._versions[api_key]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _api_ranges(answer: bytes) -> bytes:
    """The (key, lowest, highest) triples of an ApiVersions v0 response."""
    check_limit(len(answer) // _RANGE.size, response_limits.API_KEYS_MAX, "too_many_apis")
    start = _API_VERSIONS_HEAD_BYTES
    return answer[start : start + (len(answer) - start) // _RANGE.size * _RANGE.size]
