"""The lines of /metrics about a broker as a whole. Each method is named after Kafka's MBean whose
metrics it has, with those of brokerd's own on the same subject; those of the replicas and of the
controller are in `replica_manager_metrics` and `kafka_controller_metrics`.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerd.clock import Clock
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode
from brokerd.integer_ranges import INT64_MAX
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.log_manager import LogManager
from brokerd.metric_counters import FETCH, PARTS, PRODUCE, BrokerMetrics
from brokerd.server.admin_http.kafka_controller_metrics import ClusterCounts, kafka_controller_lines
from brokerd.server.admin_http.prometheus_text import Row, family, head, histogram, singles
from brokerd.server.admin_http.replica_manager_metrics import PartitionCounts, replica_manager_lines
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.coordinator_runtime.group_runtime import GroupRuntime
from brokerd.server.network.socket_server import SocketServer
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import api_name

if TYPE_CHECKING:
    from brokerd.server.fetch.fetch_session_cache import FetchSessionCache

MS_PER_S = 1000
RUNNING, STARTING = 3, 1
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TIMES = {
    "queue": ("requestqueuetimems", "from when the loop woke until it began to receive them"),
    "local": ("localtimems", "from the receive until the reply was handed to the socket"),
    "remote": ("remotetimems", "waiting for records, replicas, members or ZooKeeper"),
    "send": ("responsesendtimems", "from then until the peer took what it did not take at once"),
    "total": ("totaltimems", "altogether, without the time of sending"),
}
_GROUP_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Empty", "Dead")


class GroupCounts:
    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.offsets = 0

    def take(self, runtime: GroupRuntime) -> None:
        states, offsets = runtime.coordinator.counts()
        self.states += states
        self.offsets += offsets


def open_files() -> int:
    """The open descriptors of this process, maybe tens of thousands: call it in a thread."""
    return len(os.listdir("/proc/self/fd"))


def resident_bytes() -> int:
    """Memory of this process that is in RAM, as Linux counts it (statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


@dataclass(frozen=True, slots=True)
class BrokerMetricLines:
    """The parts of the broker from which metrics are read."""

    metrics: BrokerMetrics
    cluster: BrokerLifecycle
    socket_server: SocketServer
    logs: LogManager
    cleaner: LogCleanerManager
    pending_reads: PendingReads
    purgatory: Purgatory
    fetch_sessions: FetchSessionCache
    settings: BrokerConfigHandler
    clock: Clock
    started_at_ms: int
    is_ready: Callable[[], bool]

    def lines(
        self, counts: PartitionCounts, cluster: ClusterCounts, groups: GroupCounts, files: int
    ) -> Iterator[str]:
        """All metrics that are not by topic."""
        yield from self._request_metrics()
        yield from self._process(files)
        yield from self._socket_server()
        yield from replica_manager_lines(counts)
        yield from self._fetch_session_cache()
        yield from kafka_controller_lines(self.cluster, cluster)
        yield from _group_metadata_manager(groups)
        yield from self._log_cleaner()
        yield from self._session_expire_listener()
        yield from self._socket_server_metrics()
        yield from self._delayed_operation_purgatory()
        yield from self._log_manager()
        yield head("brokerd_loop_lag_seconds", "histogram", "How late the loop runs its timers.")
        yield from histogram("brokerd_loop_lag_seconds", {}, self.metrics.loop_lag_s)

    def _request_metrics(self) -> Iterator[str]:
        prefix = "kafka_network_requestmetrics_"
        metrics = self.metrics
        apis = [(api_name(key), times) for key, times in sorted(metrics.apis.items())]
        apis = [(name, times) for name, times in apis if times.requests]
        requests: list[Row] = [({"request": name}, times.requests) for name, times in apis]
        yield from family(
            f"{prefix}requests_total", "counter", "Requests answered, by API.", requests
        )
        errors: list[Row] = [
            ({"request": api_name(key), "error": ErrorCode(code).name}, count)
            for (key, code), count in sorted(metrics.errors.items())
        ]
        text = "Requests, or partitions of Produce and Fetch, refused."
        yield from family(f"{prefix}errors_total", "counter", text, errors)
        for part in PARTS if apis else ():
            name, text = _TIMES[part]
            yield head(prefix + name, "histogram", f"Milliseconds of requests: {text}.")
            for api, times in apis:
                values = times.histogram(part)
                yield from histogram(prefix + name, {"request": api}, values, MS_PER_S)
        if apis:
            yield head(f"{prefix}requestbytes", "summary", "Bytes of requests.")
            for api, times in apis:
                yield f'{prefix}requestbytes_sum{{request="{api}"}} {times.request_bytes}\n'
                yield f'{prefix}requestbytes_count{{request="{api}"}} {times.requests}\n'

    def _process(self, files: int) -> Iterator[str]:
        yield from singles(
            "process_",
            ("start_time_seconds", "Since 1970, when it started.", self.started_at_ms / MS_PER_S),
            ("cpu_seconds_total", "CPU time.", round(time.process_time(), 3)),
            ("resident_memory_bytes", "Resident memory.", resident_bytes()),
            ("open_fds", "Open files and sockets.", files),
            ("max_fds", "How many may be open.", resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        )

    def _socket_server(self) -> Iterator[str]:
        loop, buffers = self.metrics.loop, self.socket_server.buffers
        idle, used = round(loop.idle_share(), 4), buffers.loaned_bytes
        free = buffers.limit_bytes - used if buffers.limit_bytes >= 0 else INT64_MAX
        text = "Share of the last 30 s that the loop waited for something to do, 0 to 1."
        yield from singles(
            "kafka_network_socketserver_",
            ("networkprocessoravgidle_percent", text, idle),
            ("memorypoolused", "Bytes of frames not whole.", used),
            ("memorypoolavailable", "queued.max.request.bytes less that.", free),
        )
        name, text = "requesthandleravgidle_percent", f"{text} One loop does both."
        yield from singles("kafka_server_kafkarequesthandlerpool_", (name, text, idle))
        name, idle_s = "loop_idle_seconds_total", round(loop.idle_s, 3)
        yield from singles("brokerd_", (name, "Time that the loop waited.", idle_s))
        state, text = RUNNING if self.is_ready() else STARTING, "1 starting or ending, 3 running."
        yield from singles("kafka_server_kafkaserver_", ("brokerstate", text, state))

    def _fetch_session_cache(self) -> Iterator[str]:
        sessions = self.fetch_sessions
        yield from singles(
            "kafka_server_fetchsessioncache_",
            ("numincrementalfetchsessions", "Fetch sessions.", len(sessions)),
            ("numincrementalfetchpartitionscached", "Partitions in them.",
             sessions.partition_count),
        )  # fmt: skip

    def _log_cleaner(self) -> Iterator[str]:
        cleaner, metrics = self.cleaner, self.cleaner.metrics
        since_ms = max(self.clock.now_ms() - (metrics.looked_ms or self.started_at_ms), 0)
        yield from singles(
            "kafka_log_logcleanermanager_",
            ("max_dirty_percent", "Of the dirtiest log at the last look.",
             int(metrics.dirtiest * 100)),
            ("time_since_last_run_ms", "Since logs to clean were looked for.", since_ms),
            ("uncleanable_partitions_count", "Logs that could not be cleaned.",
             len(cleaner.uncleanable)),
            ("uncleanable_bytes", "What is dirty of them.", cleaner.uncleanable_bytes),
        )  # fmt: skip
        yield from singles(
            "kafka_log_logcleaner_",
            ("cleaner_recopy_percent", "What stayed of the last log cleaned.",
             int(metrics.round_kept * 100)),
            ("max_buffer_utilization_percent", "How full its map of keys was.",
             int(metrics.round_map_used * 100)),
            ("max_clean_time_secs", "How long it took.", metrics.round_ms // MS_PER_S),
            ("max_compaction_delay_secs", "By how much max.compaction.lag.ms was passed.",
             metrics.round_late_ms // MS_PER_S),
            ("deadthreadcount", "Workers never stay dead: they are started anew.", 0),
        )  # fmt: skip
        yield from singles(
            "brokerd_log_cleaner_",
            ("rounds_total", "Cleanings of compacted logs.", metrics.rounds),
            ("read_bytes_total", "Bytes read to clean logs.", metrics.read_bytes),
            ("written_bytes_total", "Bytes that stayed of them.", metrics.written_bytes),
            ("worker_deaths_total", "Worker processes that ended before their job.",
             metrics.worker_deaths),
            ("cleaning", "Logs being cleaned now.", cleaner.busy),
            ("waiting_partitions",
             "Logs that an open transaction keeps from being cleaned further.", len(cleaner.held)),
        )  # fmt: skip

    def _session_expire_listener(self) -> Iterator[str]:
        cluster = self.cluster
        prefix = "kafka_server_sessionexpirelistener_"
        yield from singles(
            prefix,
            ("zookeepersyncconnects_total", "Connections made to ZooKeeper.", cluster.connects),
            ("zookeeperdisconnects_total", "Times that ZooKeeper went silent.",
             cluster.disconnects),
            ("zookeeperexpires_total", "Sessions lost.", cluster.expires),
        )  # fmt: skip
        is_connected = cluster.disconnected_since_ms is None
        rows: list[Row] = [
            ({"state": "CONNECTED"}, int(is_connected)),
            ({"state": "CONNECTING"}, int(not is_connected)),
        ]
        text = "1 for the state of the ZooKeeper session."
        yield from family(prefix + "sessionstate", "gauge", text, rows)

    def _socket_server_metrics(self) -> Iterator[str]:
        socket_server, metrics = self.socket_server, self.metrics
        acceptor = socket_server.acceptor
        prefix = "kafka_server_socket_server_metrics_"
        names = [listener.name for listener in self.settings.config.listeners]
        figures: tuple[tuple[str, str, str, Callable[[str], int]], ...] = (
            ("connection_count", "gauge", "Open connections.",
             lambda name: socket_server.opened[name] - socket_server.ended[name]),
            ("connection_creation_total", "counter", "Connections taken.",
             lambda name: socket_server.opened[name]),
            ("connection_close_total", "counter", "Connections that ended.",
             lambda name: socket_server.ended[name]),
        )  # fmt: skip
        for name, kind, text, value in figures:
            rows: list[Row] = [({"listener": each}, value(each)) for each in names]
            yield from family(prefix + name, kind, text, rows)
        yield from singles(
            prefix,
            ("request_total", "Requests received.", metrics.requests),
            ("incoming_byte_total", "Bytes received.", metrics.received_bytes),
            ("outgoing_byte_total", "Bytes sent.", socket_server.sent_bytes),
        )
        yield from singles(
            "brokerd_connections",
            ("", "Open connections of all listeners.", len(socket_server.connections)),
            ("_refused_total", "Refused by max.connections.per.ip.", acceptor.refused),
        )

    def _delayed_operation_purgatory(self) -> Iterator[str]:
        purgatory = self.purgatory
        prefix, text = "kafka_server_delayed", "Requests that wait: long polls, acks=all."
        rows: list[Row] = [
            ({"delayedOperation": api_name(key)}, purgatory.counts[key]) for key in (PRODUCE, FETCH)
        ]
        for name in ("purgatorysize", "numdelayedoperations"):
            yield from family(f"{prefix}operationpurgatory_{name}", "gauge", text, rows)
        expired: list[Row] = [({"fetcherType": "consumer"}, purgatory.expired)]
        name, text = f"{prefix}fetchmetrics_expires_total", "Long polls whose time ran out."
        yield from family(name, "counter", text, expired)
        cold = self.pending_reads.requests
        yield from singles(
            "brokerd_",
            ("parked_requests", "Requests that wait, of all APIs.", purgatory.count),
            ("cold_fetches_total", "Fetches that had to wait for the disk.", cold),
        )

    def _log_manager(self) -> Iterator[str]:
        name = "kafka_log_logflushstats_logflushrateandtimems"
        text = "Milliseconds of flushes: a log's segments and indexes synced."
        yield head(name, "histogram", text)
        yield from histogram(name, {}, self.metrics.flushes_s, MS_PER_S)
        offline = self.logs.dirs.offline
        prefix = "kafka_log_logmanager_"
        name = "offlinelogdirectorycount"
        yield from singles(prefix, (name, "Log directories offline.", len(offline)))
        live = [log_dir.path for log_dir in self.logs.dirs.live]
        rows: list[Row] = [
            ({"logDirectory": path}, int(path in offline)) for path in [*live, *offline]
        ]
        yield from family(prefix + "logdirectoryoffline", "gauge", "1 for one that is.", rows)
        rows = [({"logDirectory": each.path}, each.free_bytes) for each in disk_spaces(self.logs)]
        yield from family("brokerd_log_directory_free_bytes", "gauge", "Space left.", rows)


def _group_metadata_manager(groups: GroupCounts) -> Iterator[str]:
    yield from singles(
        "kafka_coordinator_group_groupmetadatamanager_",
        ("numgroups", "Groups coordinated here.", groups.states.total()),
        ("numoffsets", "Offsets kept for them.", groups.offsets),
        *(
            (f"numgroups{state.lower()}", f"Groups in the state {state}.", groups.states[state])
            for state in _GROUP_STATES
        ),
    )


class DiskSpace(NamedTuple):
    """Disk space as `df` counts it, without what is reserved for root."""

    path: str
    total_bytes: int
    free_bytes: int


def disk_spaces(logs: LogManager) -> Iterator[DiskSpace]:
    for log_dir in logs.dirs.live:
        with suppress(OSError):  # it has failed, and the broker has not noticed yet
            found = os.statvfs(log_dir.path)
            total = found.f_blocks - found.f_bfree + found.f_bavail
            yield DiskSpace(log_dir.path, total * found.f_frsize, found.f_bavail * found.f_frsize)
