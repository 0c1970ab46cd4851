"""Reads brokerd's admin port for samples: traffic counters, sizes, log start offsets, CPU, memory,
disk.

Per broker and tick it makes one GET of `/v1/broker` and one of `/v1/partitions` (columns, not
rows). If a cluster has no admin URLs or an admin port does not answer, the values are unknown.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np

from monitoring.egress import bounded_http
from monitoring.egress.bounded_http import Answer, AnswerRefused
from monitoring.egress.url_checks import CheckedTarget, EgressRefused, EgressUnresolved, check_url
from monitoring.error_reason import Reason
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.errors import ClusterUnavailable, OverLimit, Refused
from monitoring.gateway.wire.answers import ClusterAnswers, LogDir
from monitoring.gateway.wire.list_offsets import UNKNOWN
from monitoring.gateway.wire.metadata import Longs
from monitoring.gateway.wire.response_limits import OFFSET_MAX

ANSWER_BYTES_MAX = 64 * 1024 * 1024
# Longer than a tick, so that connections are reused, and shorter than the 30 s after which brokerd
# closes idle connections.
_CONNECTION_LIMITS = httpx.Limits(keepalive_expiry=25.0)
_DNS_THREADS = ThreadPoolExecutor(8, thread_name_prefix="dns-lookup")
_PARTITION_COLUMNS = ("size_bytes", "bytes_in", "bytes_out", "messages_in", "log_start_offset")


class BrokerdStatsReader:
    """The admin ports of one cluster's brokers. Use it on one event loop only."""

    def __init__(self, urls: AdminUrls) -> None:
        self._urls = urls
        # No time-out of the client: each request has one of its own.
        self._client = bounded_http.new_client(timeout_s=None, limits=_CONNECTION_LIMITS)

    def has_admin_port(self, broker_id: int) -> bool:
        return str(broker_id) in self._urls.by_broker

    async def read_into(self, answers: ClusterAnswers, broker_id: int, timeout_s: float) -> None:
        """Put the values of `broker_id` into `answers`. Raises GatewayError."""
        stats, partitions = await asyncio.gather(
            self._get(broker_id, "/v1/broker", timeout_s),
            self._get(broker_id, "/v1/partitions", timeout_s),
        )
        try:
            log_dirs = _log_dirs(stats)
            answers.broker_stats[broker_id] = _stats(stats)
            sizes = _put_partitions(answers, broker_id, partitions)
            answers.put_log_dirs(broker_id, log_dirs, sizes)
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise Refused(Reason("admin_port_format_why", why=str(error))) from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _get(self, broker_id: int, path: str, timeout_s: float) -> dict[str, Any]:
        url = self._urls.by_broker[str(broker_id)].rstrip("/") + path
        try:
            async with asyncio.timeout(timeout_s):
                target = await self._checked_target(url)
                answer = await self._fetch_with_retry(target, timeout_s)
                response = bounded_http.parse_json(answer.body) if answer.status == 200 else None
        except (EgressRefused, EgressUnresolved) as error:
            raise Refused(Reason("admin_port", why=error.reason)) from error
        except AnswerRefused as error:
            raise OverLimit(Reason("admin_port", why=error.reason)) from error
        except (httpx.HTTPError, TimeoutError) as error:
            why = Reason("timed_out") if isinstance(error, TimeoutError) else type(error).__name__
            raise ClusterUnavailable(Reason("admin_port_silent", why=why)) from error
        except ValueError as error:
            raise Refused(Reason("admin_port_not_json")) from error
        if answer.status != 200:
            raise Refused(Reason("admin_port_status", status=answer.status, path=path))
        if not isinstance(response, dict):
            raise Refused(Reason("admin_port_format"))
        return response

    async def _checked_target(self, url: str) -> CheckedTarget:
        """Run the egress check, which makes DNS lookups, in a thread pool of its own."""
        event_loop = asyncio.get_running_loop()
        return await event_loop.run_in_executor(_DNS_THREADS, check_url, url, self._urls.allowed)

    async def _fetch_with_retry(self, target: CheckedTarget, timeout_s: float) -> Answer:
        """Retries once: the server may close an idle connection just when it is reused."""
        try:
            return await self._fetch(target, timeout_s)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            return await self._fetch(target, timeout_s)

    async def _fetch(self, target: CheckedTarget, timeout_s: float) -> Answer:
        return await bounded_http.request(
            self._client,
            "GET",
            target,
            timeout_s=timeout_s,
            body_bytes_max=ANSWER_BYTES_MAX,
            headers={"Authorization": f"Bearer {self._urls.token}"},
        )


def _stats(response: dict[str, Any]) -> dict[str, Any]:
    """The values of `/v1/broker`, with the names of a tick's `brokers`."""
    names = ("bytes_in", "bytes_out", "messages_in", "requests", "connections", "rss_bytes",
             "cpu_seconds")  # fmt: skip
    return {name: _number(response.get(name)) for name in names}


def _number(value: Any) -> float | None:
    """A count or a size; None if the value is not valid."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= OFFSET_MAX else None


def _log_dirs(response: dict[str, Any]) -> list[LogDir]:
    return [
        LogDir(str(disk["path"]), _size(disk["total_bytes"]), _size(disk["free_bytes"]))
        for disk in response.get("log_dirs") or []
    ]


def _size(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _put_partitions(
    answers: ClusterAnswers, broker_id: int, response: dict[str, Any]
) -> dict[str, int]:
    """Put counters and log start offsets of the partitions that this broker leads, and sizes of all
    its replicas.

    Returns the size of the replicas in each log directory.
    """
    rows_by_topic = answers.metadata.rows_by_topic
    columns = {name: _integers(response[name]) for name in ("partition", *_PARTITION_COLUMNS)}
    row_numbers = [
        rows.start + partition if 0 <= partition < len(rows) else -1
        for rows, partition in zip(
            (rows_by_topic.get(topic, range(0)) for topic in response["topic"]),
            columns["partition"].tolist(),
            strict=True,
        )
    ]
    rows = np.array(row_numbers, dtype=np.int64)
    exists = rows >= 0
    is_leader = np.array(response["leader"], dtype=bool)
    if is_leader.shape != rows.shape:
        raise ValueError("columns of different lengths")
    led = exists & is_leader
    # Raises IndexError if the columns have different lengths.
    values = {name: columns[name][led] for name in _PARTITION_COLUMNS}
    sizes = _sizes_of_log_dirs(response, exists, columns["size_bytes"])
    # After all checks: if one fails, DescribeLogDirs reads the sizes, which would count twice.
    are_valid = answers.put_sizes(broker_id, rows[exists], columns["size_bytes"][exists])
    counters = answers.counters
    counters.bytes_in[rows[led]] = values["bytes_in"]
    counters.bytes_out[rows[led]] = values["bytes_out"]
    counters.messages_in[rows[led]] = values["messages_in"]
    is_known_leader = answers.metadata.leaders[rows[led]] == broker_id
    answers.log_start[rows[led][is_known_leader]] = values["log_start_offset"][is_known_leader]
    return sizes if are_valid else {}


def _sizes_of_log_dirs(
    response: dict[str, Any], exists: np.ndarray, size_bytes: Longs
) -> dict[str, int]:
    """Log directory → the size of its replicas; empty if the broker does not report it."""
    if "log_dir" not in response:
        return {}
    paths, directory_numbers = response["log_dirs"], _integers(response["log_dir"])
    sizes = np.zeros(len(paths), dtype=np.int64)
    is_in_directory = exists & (directory_numbers >= 0)
    np.add.at(sizes, directory_numbers[is_in_directory], size_bytes[is_in_directory])
    return dict(zip(map(str, paths), sizes.tolist(), strict=True))


def _integers(response: Any) -> Longs:
    """A column of integers; values that are negative or too large are UNKNOWN."""
    column = np.array(response) if response else np.empty(0, np.int64)
    if column.ndim != 1 or column.dtype != np.int64:
        raise ValueError("a column with values that are not integers")
    return np.where((column < 0) | (column > OFFSET_MAX), UNKNOWN, column)
