"""DescribeLogDirs and AlterReplicaLogDirs: the log directories of this broker."""

import shutil
from dataclasses import dataclass
from typing import Any

from brokerd.errors import ErrorCode
from brokerd.event_loop_turns import in_turns
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item
from brokerd.server.requests.request_context import Fields, RequestContext

_PARTITIONS = ("results", "topics", "partitions")


@dataclass(frozen=True, slots=True)
class LogDirHandlers:
    logs: LogManager

    async def describe_log_dirs(self, context: RequestContext, request: Any) -> Fields:
        """Each log directory: the space of its disk, the sizes of the partitions asked for."""
        wanted = None
        if request.topics is not None:
            wanted = {(each.topic, index) for each in request.topics for index in each.partitions}
        sizes: dict[str, dict[str, list[bytes]]] = {path: {} for path in self.logs.dirs.paths}

        def add(log: UnifiedLog) -> None:
            if wanted is not None and (log.topic, log.partition) not in wanted:
                return
            directory = self.logs.directory_of(log.topic, log.partition)
            if directory in sizes:
                row = encode_item(
                    ApiKey.DESCRIBE_LOG_DIRS, context.api_version, _PARTITIONS,
                    {
                        "partition_index": log.partition,
                        "partition_size": log.size_bytes,
                        "offset_lag": 0,
                        "is_future_key": False,
                    },
                )  # fmt: skip
                sizes[directory].setdefault(log.topic, []).append(row)

        await in_turns(self.logs.all(), add)
        return {
            "error_code": 0,
            "results": [
                _directory(path, topics, is_offline=path in self.logs.dirs.offline)
                for path, topics in sizes.items()
            ],
        }

    async def alter_replica_log_dirs(self, context: RequestContext, request: Any) -> Fields:
        """Succeeds if the replica is already in the named directory; no replica is moved between
        directories yet."""
        by_topic: dict[str, list[Fields]] = {}

        def answer(asked: tuple[str, int, str]) -> None:
            topic, index, path = asked
            code = int(self._move(topic, index, path))
            by_topic.setdefault(topic, []).append({"partition_index": index, "error_code": code})

        rows = (
            (topic.name, int(index), directory.path)
            for directory in request.dirs
            for topic in directory.topics
            for index in topic.partitions
        )
        await in_turns(rows, answer)
        return {
            "results": [
                {"topic_name": topic, "partitions": each} for topic, each in by_topic.items()
            ]
        }

    def _move(self, topic: str, index: int, path: str) -> ErrorCode:
        dirs = self.logs.dirs
        if path not in dirs.paths:
            return ErrorCode.LOG_DIR_NOT_FOUND
        if path in dirs.offline or (topic, index) in dirs.lost:
            return ErrorCode.KAFKA_STORAGE_ERROR
        present = self.logs.directory_of(topic, index)
        if present is None:
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return ErrorCode.NONE if path == present else ErrorCode.UNSUPPORTED_VERSION


def _directory(path: str, topics: dict[str, list[bytes]], *, is_offline: bool) -> Fields:
    result: Fields = {
        "error_code": 0,
        "log_dir": path,
        "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        "total_bytes": -1,
        "usable_bytes": -1,
    }
    try:
        usage = None if is_offline else shutil.disk_usage(path)
    except OSError:
        usage = None
    if usage is None:
        result["error_code"] = int(ErrorCode.KAFKA_STORAGE_ERROR)
    else:
        result.update(total_bytes=usage.total, usable_bytes=usage.free)
    return result
