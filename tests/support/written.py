"""Everything that the brokers of a run wrote: at its end Apache Kafka's dump tool reads it all.

`Brokerd` tells of its log directories here. A test that damages files, or has a client store what
does not hold together, calls `damaged` with the directory.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.kafka_tools import kafka, kafka_is_here

_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_FILES_MAX = 500
_DECODERS = {
    "__consumer_offsets": "--offsets-decoder", "__transaction_state": "--transaction-log-decoder",
}  # fmt: skip
# Gaps are no complaint: a compacted log has some, of which the tool tells for Kafka's own too.
_COMPLAINTS = re.compile("(?i)mismatch|invalid bytes|isvalid: false|exception|not found|error")
_NOT_DECODED = re.compile(" key: (Error|Unknown|unknown)")
# What a broker had half written when it was killed; its next start cuts it off.
_TORN = re.compile(r"Found \d+ invalid bytes at the end of")
# The tool takes times from records: in a batch that stays without any, as the last one of its
# producer, it finds none to hold against the index; in logs that Kafka has compacted neither.
_OF_EMPTY_BATCHES = re.compile(
    r"Found timestamp mismatch in :.*\n(?:  Index timestamp: \d+, log timestamp: -1\n)+(?!  )"
)
_log_dirs: dict[Path, None] = {}
_damaged: set[Path] = set()


def by_brokerd(log_dirs: Iterable[str | Path]) -> None:
    """A broker writes into these."""
    _log_dirs.update(dict.fromkeys(map(Path, log_dirs)))


def damaged(directory: Path) -> None:
    """What lies there does not hold together, on purpose."""
    _damaged.add(directory)


@pytest.fixture(scope="session", autouse=True)
def _everything_written() -> Iterator[None]:
    """The first fixture that is set up, so the last one that ends: no broker runs any more."""
    yield
    complaints = [each for log_dir in _log_dirs for each in _of_log_dir(log_dir)]
    if complaints:
        told = "\n".join(complaints[:20])
        pytest.fail(
            f"Apache Kafka's dump tool has {len(complaints)} complaints of what this run wrote:"
            f"\n{told}",
            pytrace=False,
        )


def _of_log_dir(log_dir: Path) -> Iterator[str]:
    if not log_dir.is_dir() or log_dir in _damaged or not kafka_is_here():
        return
    was_stopped = (log_dir / ".kafka_cleanshutdown").exists()
    for directory in sorted(log_dir.iterdir()):
        topic, _, index = directory.name.rpartition("-")
        is_there = index.isdecimal() and directory.is_dir()  # not deleted or set aside
        if is_there and directory not in _damaged:
            files = [path for path in directory.iterdir() if path.suffix in _SUFFIXES]
            complaints = _of_files(topic, sorted(str(p) for p in files if p.stat().st_size))
            yield from (each for each in complaints if was_stopped or not _TORN.search(each))


def _of_files(topic: str, files: list[str]) -> Iterator[str]:
    decoder = _DECODERS.get(topic, "--deep-iteration")
    for first in range(0, len(files), _FILES_MAX):
        some = ",".join(files[first : first + _FILES_MAX])
        said = kafka("dump-log", decoder, "--files", some)
        for line in (*said.lines, *_OF_EMPTY_BATCHES.sub("", said.err).splitlines()):
            head, _, data = line.partition(" headerKeys: ")  # which a client has written
            if not line.startswith("Dumping ") and (
                _COMPLAINTS.search(head) or (topic in _DECODERS and _NOT_DECODED.search(data))
            ):
                yield f"{files[0]}: {line}"
