"""The manifest of a span lists the span's files. Other files in the folder are ignored.

    _manifest-<N>.json   {"version": 2, "files": [{"name", "table", "rows", "min_at_ms",
                          "max_at_ms", "bytes"}]}

Readers use the highest N that can be parsed, but refuse one of a newer version: an older manifest
would lose its files. The manifest is written after its files, so a crash before it changes nothing.
Replaced files stay for a while, for readers with an older manifest. Each number is written once: if
two writers start from the same manifest, the second fails.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from monitoring.history.byte_limited_cache import ByteLimitedCache
from monitoring.history.levels import LEVELS, Level
from monitoring.history.root_folder import Root, SpanFolder, cluster_folder, level_folder

_VERSION = 2
_NAME = re.compile(r"^_manifest-([0-9]+)\.json$")
_PARSED_BYTES_MAX = 4 << 20  # as stored
_KEPT = 3  # older manifests, for readers that are about to open them


class NewerVersion(OSError):
    """The manifest is one that a newer version of this program wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFile:
    """One Parquet file of one span.

    `min_at_ms` and `max_at_ms` are of its rows.
    """

    name: str
    table: str
    rows: int
    min_at_ms: int
    max_at_ms: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a span; `number` is the highest one, even if it cannot be parsed (0 = none)."""

    number: int
    files: tuple[HistoryFile, ...]

    def of(self, table: str) -> list[HistoryFile]:
        return [file for file in self.files if file.table == table]

    def max_at_ms(self) -> int:
        """The time of the span's newest row; −1 = no rows."""
        return max((file.max_at_ms for file in self.files), default=-1)


Files = dict[SpanFolder, tuple[HistoryFile, ...]]
"""The files of several spans, the oldest span of a level first."""

_parsed: ByteLimitedCache[Manifest] = ByteLimitedCache(_PARSED_BYTES_MAX)


def numbers(names: Iterable[str]) -> list[int]:
    """The numbers of the manifests among `names`, highest first."""
    return sorted((int(match[1]) for name in names if (match := _NAME.match(name))), reverse=True)


def format_manifest(files: Iterable[HistoryFile]) -> bytes:
    """A manifest as JSON bytes."""
    content = {"version": _VERSION, "files": [asdict(file) for file in files]}
    return json.dumps(content, separators=(",", ":")).encode()


def parse_manifest(number: int, data: bytes) -> Manifest:
    """Parse the output of `format_manifest`. Raises ValueError or NewerVersion."""
    try:
        content = json.loads(data)
        version = content["version"]
        if version > _VERSION:
            raise NewerVersion(
                f"a manifest of the history has version {version}, known are those up to "
                f"{_VERSION}: install the version of Aerie that wrote it, or a newer one"
            )
        if version != _VERSION:
            raise ValueError("a manifest of another version")
        files = content["files"]
        for file in files:
            file.pop("source_ticks", None)  # of an older version
        return Manifest(number, tuple(HistoryFile(**file) for file in files))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a manifest: {error}") from error


def load(root: Root, span_folder: SpanFolder) -> Manifest:
    """The current manifest of a span: the newest one that can be parsed. Raises NewerVersion."""
    found = numbers(root.names(*span_folder.folder))
    for number in found:
        try:
            return Manifest(found[0], _files(root, span_folder, number))
        except (ValueError, FileNotFoundError):
            continue
    return Manifest(found[0] if found else 0, ())


def _files(root: Root, span_folder: SpanFolder, number: int) -> tuple[HistoryFile, ...]:
    """The files in a manifest. Raises ValueError, NewerVersion or FileNotFoundError."""

    def make() -> tuple[Manifest, int]:
        data = root.read(*span_folder.folder, f"_manifest-{number}.json")
        return parse_manifest(number, data), len(data)

    path = root.path(*span_folder.folder, f"_manifest-{number}.json")
    return _parsed.get(root.stamp(path), make).files


def replace(
    root: Root, span_folder: SpanFolder, before: Manifest, files: list[HistoryFile]
) -> None:
    """Write the next manifest, with `files`; it replaces `before`.

    Raises FileExistsError if another writer has replaced `before` already.
    """
    number = before.number + 1
    root.create(format_manifest(files), *span_folder.folder, f"_manifest-{number}.json")
    for old in numbers(root.names(*span_folder.folder)):
        if old <= number - _KEPT:
            root.delete_file(*span_folder.folder, f"_manifest-{old}.json")


def span_folders(root: Root, slug: str, level: Level) -> list[SpanFolder]:
    """The spans of a level of a cluster that have a folder, oldest first."""
    names = root.names(cluster_folder(slug), level_folder(level))
    spans = sorted(name.removeprefix("span=") for name in names if name.startswith("span="))
    return [SpanFolder(slug, level, span) for span in spans if level.is_span(span)]


def files_of_cluster(root: Root, slug: str) -> Files:
    """The files of all levels of a cluster."""
    return {
        span_folder: load(root, span_folder).files
        for level in LEVELS
        for span_folder in span_folders(root, slug, level)
    }


def clusters(root: Root) -> list[str]:
    """The slugs of the clusters that have a history."""
    names = root.names()
    return sorted(n.removeprefix("cluster=") for n in names if n.startswith("cluster="))
