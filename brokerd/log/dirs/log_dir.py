"""One log directory: its owner, whether its last stop was clean, and the logs in it.

Files beside the partitions' directories, as Kafka has them:
- `.lock`: held (POSIX lock) while a broker uses the directory;
- `meta.properties`: `version=0`, `broker.id`, `cluster.id`; another broker's directory is refused;
- `.kafka_cleanshutdown`: `{"version":0,"brokerEpoch":-1}`, written last at a clean stop and removed
  (`begin_load`) before anything is loaded, so that a crash while loading counts as unclean;
- the four checkpoints of `checkpoint_file`, each for all partitions of the directory.

As in Kafka, a directory that cannot be read or written is offline, and the others are served; for
one that is in use, or belongs to another broker, the broker does not start.
"""

import fcntl
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from brokerd.errors import KafkaError
from brokerd.log import checkpoint_file, file_names, partition_metadata_file
from brokerd.log.io.files import sync_path
from brokerd.log.loading import log_loader
from brokerd.log.loading.recover_log import LoadedLog
from brokerd.log.log_context import LogContext
from brokerd.log.offset_checkpoint_file import OffsetCheckpointFile
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

LOCK: Final = ".lock"
META_PROPERTIES: Final = "meta.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"


class LogDirError(Exception):
    """Log directories that keep the broker from starting; the message says why and what to do."""


class LogDirFailedError(LogDirError):
    """A directory that cannot be read or written: it is offline, the others are served."""


class LogDir:
    """A locked log directory with the number of its logs, and its checkpoints by name."""

    def __init__(self, path: str, broker_id: int) -> None:
        """Locks the directory (created if missing) and checks its owner. Raises LogDirFailedError;
        LogDirError if the broker must not start."""
        self.path = os.path.abspath(path)
        self.partitions = 0
        self.checkpoints = {
            name: OffsetCheckpointFile(f"{self.path}/{name}") for name in checkpoint_file.ALL
        }
        self._lock_fd = -1
        try:
            os.makedirs(self.path, exist_ok=True)
            self._lock_fd = _lock(self.path)
            self._check_meta(broker_id)
            os.listdir(self.path)
            self.was_clean = Path(self.path, CLEAN_SHUTDOWN).exists()
        except OSError as error:
            self.unlock()
            raise _failed(self.path, error) from error
        except BaseException:
            self.unlock()
            raise

    def _check_meta(self, broker_id: int) -> None:
        path = Path(self.path, META_PROPERTIES)
        if not path.exists():
            checkpoint_file.replace_file(path, f"version=0\nbroker.id={broker_id}\n")
        found = _read_properties(path)
        if found.get("version") != "0" or not found.get("broker.id", "").isdigit():
            raise LogDirFailedError(
                f"{path} is not a meta.properties file (version=0 and broker.id are wanted): "
                f"it is unknown whose directory this is; write version=0 and broker.id={broker_id} "
                "into it if it is this broker's, or correct log.dirs"
            )
        if found["broker.id"] != str(broker_id):
            raise LogDirError(
                f"{path} says broker.id={found['broker.id']}, this broker is {broker_id}: the "
                "directory belongs to another broker; correct log.dirs or broker.id"
            )

    @property
    def cluster_id(self) -> str:
        """The id of the cluster that the directory belongs to; '' if it is new."""
        return _read_properties(Path(self.path, META_PROPERTIES)).get("cluster.id", "")

    def join(self, cluster_id: str) -> None:
        """Writes the cluster id. Raises LogDirError if there is another one, OSError."""
        path = Path(self.path, META_PROPERTIES)
        known = self.cluster_id
        if known and known != cluster_id:
            raise LogDirError(
                f"{path} says cluster.id={known}, this cluster is {cluster_id}: the directory "
                "belongs to another cluster; correct log.dirs or zookeeper.connect"
            )
        if not known:
            text = path.read_text(encoding="utf-8").rstrip("\n")
            checkpoint_file.replace_file(path, f"{text}\ncluster.id={cluster_id}\n")

    def partition_path(self, topic: str, partition: int) -> str:
        return f"{self.path}/{file_names.partition_directory(topic, partition)}"

    def create(
        self, context: LogContext, topic: str, partition: int, topic_id: UUID, now_ms: int
    ) -> LoadedLog:
        """Creates an empty log. Raises OSError; FileExistsError if the directory exists."""
        path = self.partition_path(topic, partition)
        os.mkdir(path)
        try:
            partition_metadata_file.write(path, topic_id)
            return log_loader.load(
                context, path, log_start_offset=0, recovery_point=0, clean=True, now_ms=now_ms
            )
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
            raise

    def begin_load(self) -> None:
        """Removes the mark of a clean stop, durably. Raises OSError."""
        try:
            os.unlink(f"{self.path}/{CLEAN_SHUTDOWN}")
        except FileNotFoundError:
            return
        sync_path(self.path)

    def read_checkpoint(self, name: str) -> Mapping[TopicPartition, int]:
        """The offsets in a checkpoint; none, with a warning, if the file is damaged."""
        try:
            return checkpoint_file.read_offsets(self.checkpoints[name].path)
        except KafkaError as error:
            logger.warning("%s; going on without what it said", error.message)
            return {}

    def mark_clean(self) -> None:
        """Writes the mark of a clean stop. Raises OSError."""
        checkpoint_file.replace_file(
            f"{self.path}/{CLEAN_SHUTDOWN}", '{"version":0,"brokerEpoch":-1}'
        )

    def unlock(self) -> None:
        """Unlocks the directory. A second call does nothing."""
        fd, self._lock_fd = self._lock_fd, -1
        if fd >= 0:
            os.close(fd)


def _failed(path: str, error: OSError) -> LogDirFailedError:
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError):
        reason = "it is not a directory"
    if error.filename not in (None, path):
        reason = f"{error.filename}: {reason}"
    return LogDirFailedError(f"log.dirs: cannot use {path}: {reason}")


def _lock(path: str) -> int:
    fd = os.open(f"{path}/{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise LogDirError(
            f"{path} is in use by another broker process (its .lock is held); "
            "stop that one or give this broker another log.dirs"
        ) from None
    return fd


def _read_properties(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs if not name.startswith("#")}
