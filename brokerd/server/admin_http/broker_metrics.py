"""The metrics of a broker as a whole: requests, connections, replicas, disk, cleaner, cluster."""

from __future__ import annotations

import itertools
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerd.errors import ErrorCode
from brokerd.limits import INT64_MAX
from brokerd.metrics import FETCH, PARTS, PRODUCE
from brokerd.server.admin_http.exposition import Row, family, head, histogram
from brokerd.server.requests.request_times import api_name

if TYPE_CHECKING:
    from brokerd.clock import Clock
    from brokerd.cluster.cluster_client import ClusterClient
    from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
    from brokerd.log.manager import LogManager
    from brokerd.metrics import BrokerMetrics
    from brokerd.server.admin_http.partition_counts import ClusterCounts, PartitionCounts
    from brokerd.server.background.pending_reads import PendingReads
    from brokerd.server.coordinator.group_shard import GroupShard
    from brokerd.server.fetch.sessions import FetchSessions
    from brokerd.server.live_settings import LiveSettings
    from brokerd.server.network.network import Network
    from brokerd.server.requests.delayed_operations import Purgatory

MS_PER_S = 1000
RUNNING, STARTING = 3, 1
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TIMES = {
    "queue": ("requestqueuetimems", "until the receive that brought them began"),
    "local": ("localtimems", "until the reply was made and handed to the socket"),
    "remote": ("remotetimems", "waiting for records, replicas, members or ZooKeeper"),
    "send": ("responsesendtimems", "until the peer took what it did not take at once"),
    "total": ("totaltimems", "altogether, without the last"),
}
_GROUP_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Empty", "Dead")

Plain = tuple[str, str, str, float]
"""Name, kind, help and value of a metric without labels."""


class GroupCounts:
    """The groups of all shards."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.offsets = 0

    def take(self, shard: GroupShard) -> None:
        """Adds the groups and the committed offsets of one shard."""
        states, offsets = shard.core.counts()
        self.states += states
        self.offsets += offsets


def open_files() -> int:
    """The descriptors of this process. For a thread: there may be tens of thousands."""
    return len(os.listdir("/proc/self/fd"))


def resident_bytes() -> int:
    """Memory of this process that is in RAM, as Linux counts it (statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


@dataclass(frozen=True, slots=True)
class BrokerFigures:
    """What the figures are read from."""

    metrics: BrokerMetrics
    cluster: ClusterClient
    network: Network
    logs: LogManager
    cleaner: LogCleanerManager
    pending_reads: PendingReads
    purgatory: Purgatory
    fetch_sessions: FetchSessions
    settings: LiveSettings
    clock: Clock
    started_at_ms: int
    is_ready: Callable[[], bool]

    def lines(
        self, counts: PartitionCounts, cluster: ClusterCounts, groups: GroupCounts, files: int
    ) -> Iterator[str]:
        """Everything that is not by topic."""
        yield from self._requests()
        plain = itertools.chain(
            _process(files), self._loop(), self._replicas(counts), self._controller(cluster),
            _groups(groups), self._cleaner(), self._zookeeper(),
        )  # fmt: skip
        for name, kind, text, value in plain:
            yield from family(name, kind, text, [({}, value)])
        yield from self._connections()
        yield from self._waiting()
        yield from self._disk()
        yield from self._session_state()
        yield head("brokerd_loop_lag_seconds", "histogram", "How late the loop runs its timers.")
        yield from histogram("brokerd_loop_lag_seconds", {}, self.metrics.loop_lag_s)

    def _requests(self) -> Iterator[str]:
        prefix = "kafka_network_requestmetrics_"
        metrics = self.metrics
        apis = [(api_name(key), times) for key, times in sorted(metrics.apis.items())]
        apis = [(name, times) for name, times in apis if times.requests]
        requests: list[Row] = [({"request": name}, times.requests) for name, times in apis]
        yield from family(
            f"{prefix}requests_total", "counter", "Requests answered, by API.", requests
        )
        errors: list[Row] = [
            ({"request": api_name(key), "error": _error_name(code)}, count)
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

    def _loop(self) -> Iterator[Plain]:
        loop = self.metrics.loop
        idle = round(loop.idle_share(), 4)
        text = "Share of the last 30 s that the loop waited for something to do, 0 to 1."
        yield "kafka_network_socketserver_networkprocessoravgidle_percent", "gauge", text, idle
        name = "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent"
        yield name, "gauge", f"{text} One loop does both.", idle
        yield ("brokerd_loop_idle_seconds_total", "counter", "Time that the loop waited.",
               round(loop.idle_s, 3))  # fmt: skip
        buffers = self.network.buffers
        used = buffers.loaned_bytes
        yield (
            "kafka_network_socketserver_memorypoolused",
            "gauge",
            "Bytes of frames not whole.",
            used,
        )
        free = buffers.limit_bytes - used if buffers.limit_bytes >= 0 else INT64_MAX
        yield ("kafka_network_socketserver_memorypoolavailable", "gauge",
               "queued.max.request.bytes less that.", free)  # fmt: skip
        state = RUNNING if self.is_ready() else STARTING
        yield (
            "kafka_server_kafkaserver_brokerstate",
            "gauge",
            "1 starting or ending, 3 running.",
            state,
        )

    def _replicas(self, counts: PartitionCounts) -> Iterator[Plain]:
        prefix = "kafka_server_replicamanager_"
        for name, text, value in (
            ("partitioncount", "Partitions on this broker.", counts.partitions),
            ("leadercount", "Partitions led here.", counts.leaders),
            ("underreplicatedpartitions", "Led here, not all replicas in sync.",
             counts.under_replicated),
            ("underminisrpartitioncount", "Led here, fewer in sync than min.insync.replicas.",
             counts.under_min_isr),
            ("atminisrpartitioncount", "Led here, just min.insync.replicas in sync.",
             counts.at_min_isr),
            ("reassigningpartitions", "Led here, being reassigned.", counts.reassigning),
            ("offlinereplicacount", "Replicas here whose log cannot be used.", counts.offline),
        ):  # fmt: skip
            yield prefix + name, "gauge", text, value
        sessions = self.fetch_sessions
        prefix = "kafka_server_fetchsessioncache_"
        yield prefix + "numincrementalfetchsessions", "gauge", "Fetch sessions.", len(sessions)
        yield (prefix + "numincrementalfetchpartitionscached", "gauge", "Partitions in them.",
               sessions.partition_count)  # fmt: skip

    def _controller(self, cluster: ClusterCounts) -> Iterator[Plain]:
        prefix = "kafka_controller_kafkacontroller_"
        rest = " 0 where this broker is not the controller."
        for name, text, value in (
            ("activecontrollercount", "1 on the controller.", int(self.cluster.is_controller)),
            ("activebrokercount", "Brokers that are there, as this one knows.",
             len(self.cluster.image.brokers)),
            ("globaltopiccount", "Topics of the cluster." + rest, cluster.topics),
            ("globalpartitioncount", "Partitions of the cluster." + rest, cluster.partitions),
            ("offlinepartitionscount", "Partitions without a leader." + rest, cluster.offline),
            ("preferredreplicaimbalancecount", "Partitions not led by their first replica." + rest,
             cluster.not_preferred),
        ):  # fmt: skip
            yield prefix + name, "gauge", text, value

    def _cleaner(self) -> Iterator[Plain]:
        cleaner, metrics = self.cleaner, self.cleaner.metrics
        prefix = "kafka_log_logcleanermanager_"
        looked_ms = metrics.looked_ms or self.started_at_ms
        yield (prefix + "max_dirty_percent", "gauge", "Of the dirtiest log at the last look.",
               int(metrics.dirtiest * 100))  # fmt: skip
        yield (prefix + "time_since_last_run_ms", "gauge", "Since logs to clean were looked for.",
               max(self.clock.now_ms() - looked_ms, 0))  # fmt: skip
        prefix = "kafka_log_logcleaner_"
        for name, text, value in (
            ("cleaner_recopy_percent", "What stayed of the last log cleaned.",
             int(metrics.round_kept * 100)),
            ("max_buffer_utilization_percent", "How full its map of keys was.",
             int(metrics.round_map_used * 100)),
            ("max_clean_time_secs", "How long it took.", metrics.round_ms // MS_PER_S),
            ("max_compaction_delay_secs", "By how much max.compaction.lag.ms was passed.",
             metrics.round_late_ms // MS_PER_S),
            ("deadthreadcount", "Workers never stay dead: they are started anew.", 0),
        ):  # fmt: skip
            yield prefix + name, "gauge", text, value
        prefix = "brokerd_log_cleaner_"
        for name, text, value in (
            ("rounds_total", "Cleanings of compacted logs.", metrics.rounds),
            ("read_bytes_total", "Bytes read to clean logs.", metrics.read_bytes),
            ("written_bytes_total", "Bytes that stayed of them.", metrics.written_bytes),
            ("damaged_batches_total", "Batches met that do not hold together.",
             metrics.damaged_batches),
            ("worker_deaths_total", "Worker processes that ended before their job.",
             metrics.worker_deaths),
        ):  # fmt: skip
            yield prefix + name, "counter", text, value
        yield prefix + "cleaning", "gauge", "Logs being cleaned now.", cleaner.busy
        yield (prefix + "waiting_partitions", "gauge",
               "Logs that an open transaction keeps from being cleaned further.",
               len(cleaner.held))  # fmt: skip

    def _zookeeper(self) -> Iterator[Plain]:
        cluster = self.cluster
        prefix = "kafka_server_sessionexpirelistener_"
        for name, text, value in (
            ("zookeepersyncconnects_total", "Connections made to ZooKeeper.", cluster.connects),
            (
                "zookeeperdisconnects_total",
                "Times that ZooKeeper went silent.",
                cluster.disconnects,
            ),
            ("zookeeperexpires_total", "Sessions lost.", cluster.expires),
        ):
            yield prefix + name, "counter", text, value

    def _session_state(self) -> Iterator[str]:
        is_connected = self.cluster.disconnected_since_ms is None
        rows: list[Row] = [
            ({"state": "CONNECTED"}, int(is_connected)),
            ({"state": "CONNECTING"}, int(not is_connected)),
        ]
        yield from family("kafka_server_sessionexpirelistener_sessionstate", "gauge",
                          "1 for the state of the ZooKeeper session.", rows)  # fmt: skip

    def _connections(self) -> Iterator[str]:
        network, metrics = self.network, self.metrics
        prefix = "kafka_server_socket_server_metrics_"
        names = [listener.name for listener in self.settings.config.listeners]
        figures: tuple[tuple[str, str, str, Callable[[str], int]], ...] = (
            ("connection_count", "gauge", "Open connections.",
             lambda name: network.opened[name] - network.ended[name]),
            ("connection_creation_total", "counter", "Connections taken.",
             lambda name: network.opened[name]),
            ("connection_close_total", "counter", "Connections that ended.",
             lambda name: network.ended[name]),
        )  # fmt: skip
        for name, kind, text, value in figures:
            rows: list[Row] = [({"listener": each}, value(each)) for each in names]
            yield from family(prefix + name, kind, text, rows)
        for name, text, total in (
            ("request_total", "Requests received.", metrics.requests),
            ("incoming_byte_total", "Bytes received.", metrics.received_bytes),
            ("outgoing_byte_total", "Bytes sent.", network.sent_bytes),
        ):
            yield from family(prefix + name, "counter", text, [({}, total)])
        yield from family("brokerd_connections", "gauge", "Open connections of all listeners.",
                          [({}, len(network.connections))])  # fmt: skip
        yield from family("brokerd_connections_refused_total", "counter",
                          "Refused by max.connections.per.ip.",
                          [({}, network.refused)])  # fmt: skip

    def _waiting(self) -> Iterator[str]:
        lot = self.purgatory
        prefix = "kafka_server_delayedoperationpurgatory_"
        rows: list[Row] = [
            ({"delayedOperation": api_name(key)}, lot.counts[key]) for key in (PRODUCE, FETCH)
        ]
        for name in ("purgatorysize", "numdelayedoperations"):
            yield from family(
                prefix + name, "gauge", "Requests that wait: long polls, acks=all.", rows
            )
        yield from family("brokerd_parked_requests", "gauge", "All of them.", [({}, lot.count)])
        yield from family("brokerd_cold_fetches_total", "counter",
                          "Fetches that had to wait for the disk.",
                          [({}, self.pending_reads.requests)])  # fmt: skip
        yield from family("kafka_server_delayedfetchmetrics_expires_total", "counter",
                          "Long polls whose time ran out.",
                          [({"fetcherType": "consumer"}, lot.expired[FETCH])])  # fmt: skip

    def _disk(self) -> Iterator[str]:
        name = "kafka_log_logflushstats_logflushrateandtimems"
        yield head(
            name, "histogram", "Milliseconds of flushes: a log's segments and indexes synced."
        )
        yield from histogram(name, {}, self.metrics.flushes_s, MS_PER_S)
        cleaner = self.cleaner
        prefix = "kafka_log_logcleanermanager_uncleanable_"
        yield from family(prefix + "partitions_count", "gauge", "Logs that could not be cleaned.",
                          [({}, len(cleaner.uncleanable))])  # fmt: skip
        yield from family(prefix + "bytes", "gauge", "What is dirty of them.",
                          [({}, cleaner.uncleanable_bytes)])  # fmt: skip
        dirs = self.logs.dirs
        prefix = "kafka_log_logmanager_"
        yield from family(prefix + "offlinelogdirectorycount", "gauge", "Log directories offline.",
                          [({}, len(dirs.offline))])  # fmt: skip
        live = [log_dir.path for log_dir in dirs.live]
        paths: list[Row] = [({"logDirectory": path}, int(path in dirs.offline))
                            for path in [*live, *dirs.offline]]  # fmt: skip
        yield from family(prefix + "logdirectoryoffline", "gauge", "1 for one that is.", paths)
        space: list[Row] = [
            ({"logDirectory": each.path}, each.free_bytes) for each in disk_spaces(self.logs)
        ]
        yield from family("brokerd_log_directory_free_bytes", "gauge", "Space left.", space)


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def _process(files: int) -> Iterator[Plain]:
    yield "process_cpu_seconds_total", "counter", "CPU time.", round(time.process_time(), 3)
    yield "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes()
    yield "process_open_fds", "gauge", "Open files and sockets.", files
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield "process_max_fds", "gauge", "How many may be open.", limit


def _groups(groups: GroupCounts) -> Iterator[Plain]:
    prefix = "kafka_coordinator_group_groupmetadatamanager_"
    yield prefix + "numgroups", "gauge", "Groups coordinated here.", groups.states.total()
    yield prefix + "numoffsets", "gauge", "Offsets kept for them.", groups.offsets
    for state in _GROUP_STATES:
        name = f"{prefix}numgroups{state.lower()}"
        yield name, "gauge", f"Groups in the state {state}.", groups.states[state]


class DiskSpace(NamedTuple):
    """Without what is reserved for root, as `df` counts: the rest is used or free."""

    path: str
    total_bytes: int
    free_bytes: int


def disk_spaces(logs: LogManager) -> Iterator[DiskSpace]:
    """Of each log directory that is not offline."""
    for log_dir in logs.dirs.live:
        with suppress(OSError):  # it is gone, which the broker has yet to notice
            found = os.statvfs(log_dir.path)
            total = found.f_blocks - found.f_bfree + found.f_bavail
            yield DiskSpace(log_dir.path, total * found.f_frsize, found.f_bavail * found.f_frsize)
