"""The root folder of the history: on a local file system, S3 or HDFS.

Its URL is the setting HISTORY_URL with its default in console/settings.py.

Its content, per cluster, level and span (levels.py):

    cluster=<slug>/level=<level>/span=<span>/<table>-<…>.parquet   (table_specs.py)
                                             _manifest-<N>.json
"""

import os
from dataclasses import dataclass
from functools import lru_cache

import pyarrow.fs as pafs
from django.conf import settings

from monitoring.history.levels import Level
from monitoring.history.local_folder import local_folder

_S3_ATTEMPTS = 3

FileStamp = tuple[str, int, int]
"""The path of a file, its size, and when it was written."""


@dataclass(frozen=True, slots=True)
class Root:
    """A file system and the folder in it; all paths are relative to that folder."""

    filesystem: pafs.FileSystem
    base: str
    url: str  # of the folder, for Spark and other programs

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def path(self, *parts: str) -> str:
        """The full path of a file on `filesystem`."""
        return "/".join((self.base, *parts))

    def location(self, *parts: str) -> str:
        """The location for Spark: a path if local, else a URL."""
        return self.path(*parts) if self.is_local else "/".join((self.url, *parts))

    def write(self, data: bytes | memoryview, *parts: str) -> None:
        """Write a file. A crash leaves at most a `.tmp` file, or one that no manifest names."""
        path = self.path(*parts)
        if not self.is_local:  # object stores write atomically
            with self.filesystem.open_output_stream(path) as stream:
                stream.write(data)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{os.getpid()}.tmp"
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)

    def create(self, data: bytes, *parts: str) -> None:
        """Write a small new file. Raises FileExistsError.

        On a local disk a crash can leave it incomplete. If two writers create it at the same time,
        one fails; on HDFS, and on a store like S3 without conditional PUT, both can succeed.
        """
        path = self.path(*parts)
        if not self.is_local:
            if self.filesystem.get_file_info(path).type != pafs.FileType.NotFound:
                raise FileExistsError(path)
            if not self._created_on_s3(path, data):
                self.write(data, *parts)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _created_on_s3(self, path: str, data: bytes) -> bool:
        """False if the file system cannot create a file only if there is none."""
        if not isinstance(self.filesystem, pafs.S3FileSystem):
            return False
        from monitoring.history import s3_put  # its HTTP client is needed with S3 only

        try:
            s3_put.create(s3_put.account_of(os.environ, self.filesystem.region), path, data)
        except s3_put.Unsupported:
            return False
        return True

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Move a complete file to a name that does not exist, and set its modification time to now.

        If `sync_folder` is called afterwards, the file survives a crash of the machine.
        """
        from_path, to_path = self.path(*source), self.path(*target)
        if not self.is_local:
            self.filesystem.move(from_path, to_path)
            return
        os.makedirs(os.path.dirname(to_path), exist_ok=True)
        _sync(from_path)
        os.utime(from_path)
        os.rename(from_path, to_path)

    def sync_folder(self, *parts: str) -> None:
        """Make the names in a local folder survive a crash of the machine."""
        if self.is_local:
            _sync(self.path(*parts))

    def read(self, *parts: str) -> bytes:
        """A whole file. Raises FileNotFoundError."""
        with self.filesystem.open_input_stream(self.path(*parts)) as stream:
            return bytes(stream.read())

    def entries(self, *parts: str) -> list[pafs.FileInfo]:
        """The entries of a folder; none if it does not exist."""
        selector = pafs.FileSelector(self.path(*parts), allow_not_found=True)
        found: list[pafs.FileInfo] = self.filesystem.get_file_info(selector)
        return found

    def names(self, *parts: str) -> list[str]:
        """The names of the entries of a folder; quicker than `entries` where there are many."""
        if not self.is_local:
            return [entry.base_name for entry in self.entries(*parts)]
        try:
            return os.listdir(self.path(*parts))
        except FileNotFoundError:
            return []

    def stamp(self, path: str) -> FileStamp:
        """A key of the file at `path` on `filesystem`, which changes if it is written again.

        Raises FileNotFoundError.
        """
        info = self.filesystem.get_file_info(path)
        if info.type == pafs.FileType.NotFound:
            raise FileNotFoundError(path)
        return path, info.size, info.mtime_ns

    def check(self) -> None:
        """Raises OSError if the folder cannot be listed, or its bucket does not exist."""
        self.entries()
        if not isinstance(self.filesystem, pafs.S3FileSystem):
            return
        bucket = self.base.split("/")[0]
        if self.filesystem.get_file_info(bucket).type == pafs.FileType.NotFound:
            raise FileNotFoundError(f"there is no bucket {bucket}: create it")

    def delete_file(self, *parts: str) -> None:
        self.filesystem.delete_file(self.path(*parts))

    def delete_folder(self, *parts: str) -> None:
        self.filesystem.delete_dir(self.path(*parts))


def _sync(path: str) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def current() -> Root:
    """The root of HISTORY_URL."""
    return _root_of(settings.HISTORY_URL)


@lru_cache(maxsize=4)
def _root_of(url: str) -> Root:
    url = url.rstrip("/")
    folder = local_folder(url)
    if folder is not None:
        return Root(pafs.LocalFileSystem(), folder, url)
    scheme, _, rest = url.partition("://")
    # Hadoop calls S3 "s3a", Arrow "s3".
    filesystem, base = pafs.FileSystem.from_uri(f"{'s3' if scheme == 's3a' else scheme}://{rest}")
    if isinstance(filesystem, pafs.S3FileSystem):
        filesystem = _s3(filesystem.region)
    return Root(filesystem, base, url)


def _s3(region: str) -> pafs.S3FileSystem:
    """S3 with the address and the keys of the environment.

    `from_uri` makes ten attempts: with a store that hangs each call took 99 s, with three it takes
    10 s.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, address = endpoint.rstrip("/").rpartition("://")
    return pafs.S3FileSystem(
        region=region,
        scheme=scheme or None,
        endpoint_override=address or None,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=_S3_ATTEMPTS),
    )


def cluster_folder(slug: str) -> str:
    return f"cluster={slug}"


def level_folder(level: Level) -> str:
    return f"level={level.name}"


@dataclass(frozen=True, slots=True)
class SpanFolder:
    """The folder of one span of one level of one cluster."""

    slug: str
    level: Level
    span: str

    @property
    def folder(self) -> tuple[str, str, str]:
        """Its path, relative to the root."""
        return cluster_folder(self.slug), level_folder(self.level), f"span={self.span}"

    @property
    def start_ms(self) -> int:
        return self.level.span_start_ms(self.span)

    @property
    def end_ms(self) -> int:
        """The start of the next span."""
        return self.level.span_end_ms(self.span)
