"""`brokerd dump-log`: what lies in the files of a log, as Kafka's DumpLogSegments prints it.

Files of Kafka and of brokerd alike. Where Kafka's tool ends at something that is damaged, this one
names it on standard error, goes on with what can still be read, and ends with 1.
"""

import errno
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.cli import dump_decoders, dump_indexes
from brokerd.cli.dump_lines import (
    aborted_line,
    batch_line,
    contents_text,
    producer_line,
    record_line,
)
from brokerd.cli.java_text import fields
from brokerd.cli.numbers import int32
from brokerd.cli.options import CliError, OptionParser, Options, has, require, run
from brokerd.errors import KafkaError
from brokerd.limits import INT32_MAX
from brokerd.log import names, producer_snapshot
from brokerd.log.indexes import txn_index
from brokerd.log.io.scan import walk_headers
from brokerd.protocol.records import MAGIC, BatchHeader, Record, crc_matches, iter_records

_HEAD = struct.Struct(">qiib")  # of a batch, up to its magic
_OUTPUT_FAILED = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # reading never says so
_LEGACY_OVERHEAD = 14
_NOT_BUILT_IN = {
    "cluster-metadata-decoder": "__cluster_metadata",
    "remote-log-metadata-decoder": "__remote_log_metadata",
}
"""Decoders, and the topics that they are for, which brokerd does not have."""


@dataclass(slots=True)
class Dump:
    """What was asked for, and what was found wrong so far."""

    deep: bool
    contents: dump_decoders.Decoder | None
    metadata: bool
    index_sanity_only: bool
    verify_only: bool
    max_bytes: int
    deprecated: list[str]
    indexes: dump_indexes.Findings = field(default_factory=dump_indexes.Findings)
    non_consecutive: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    keyless: dict[str, int] = field(default_factory=dict)
    failed: bool = False

    @property
    def keyed(self) -> bool:
        """Whether the decoder is one of those for which every record has a key."""
        return self.contents in (dump_decoders.offsets, dump_decoders.transactions)

    def complain(self, line: str) -> None:
        print(line, file=sys.stderr)
        self.failed = True


def dump_log(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("dump-log", "Shows what lies in segments, indexes and snapshots.")
    parser.option("files", "REQUIRED: the files, separated by commas.", "FILE,…")
    parser.flag("print-data-log", "Print keys and payloads. Implies --deep-iteration.")
    parser.flag("deep-iteration", "A line for each record, not only for each batch.")
    parser.flag("verify-index-only", "Check indexes without printing them.")
    parser.flag("index-sanity-check", "Check only what a broker checks when it starts.")
    parser.flag("offsets-decoder", "Show the records of __consumer_offsets.")
    parser.flag("transaction-log-decoder", "Show the records of __transaction_state.")
    for name in _NOT_BUILT_IN:
        parser.flag(name, "Refused: Kafka's own tool has it.")
    parser.flag("skip-record-metadata", "Leave out offset, time and sizes of records.")
    parser.option("max-bytes", "Read this much of each data file.", "N", int32, default=INT32_MAX)
    parser.option("max-message-size", "Taken and not needed.", "N", int32, default=5 << 20)
    decoders = "String-, Integer-, Long- or DefaultDecoder."
    parser.option("key-decoder-class", decoders, "CLASS")
    parser.option("value-decoder-class", decoders, "CLASS")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    require(options, "files")
    contents = _decoder(options)
    dump = Dump(
        deep=options.deep_iteration or contents is not None,
        contents=contents,
        metadata=not options.skip_record_metadata,
        index_sanity_only=options.index_sanity_check,
        verify_only=options.verify_index_only,
        max_bytes=options.max_bytes,
        deprecated=_deprecated(options),
    )
    for file in fields(options.files, ","):
        print(f"Dumping {file}")
        try:
            _dump_file(dump, file)
        except (OSError, CliError) as error:
            if getattr(error, "errno", None) in _OUTPUT_FAILED:
                raise
            dump.complain(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}")
    sys.stdout.flush()
    _print_findings(dump)
    return 1 if dump.failed else 0


def _decoder(options: Options) -> dump_decoders.Decoder | None:
    if options.offsets_decoder:
        return dump_decoders.offsets
    if options.transaction_log_decoder:
        return dump_decoders.transactions
    for name, topic in _NOT_BUILT_IN.items():
        if has(options, name):
            raise CliError(
                f"--{name} is not built in, since there is no {topic} here; kafka-dump-log.sh of"
                " Apache Kafka shows its records, and without this option their batches are shown"
            )
    classes = options.key_decoder_class, options.value_decoder_class
    if options.print_data_log or any(each is not None for each in classes):
        key_class, value_class = (
            dump_decoders.STRING if each is None else each for each in classes
        )
        return dump_decoders.plain(key_class, value_class)
    return None


def _deprecated(options: Options) -> list[str]:
    """What Kafka's tool says of them before each segment."""
    if options.offsets_decoder or options.transaction_log_decoder:
        return []
    return dump_decoders.deprecated(options.value_decoder_class, options.key_decoder_class)


def _dump_file(dump: Dump, file: str) -> None:
    suffix = os.path.splitext(file)[1]
    if suffix == names.LOG:
        _dump_data(dump, file)
    elif suffix == names.SNAPSHOT:
        _dump_snapshot(dump, file)
    elif suffix == names.TXN_INDEX:
        for row in txn_index.ENTRY.iter_unpack(
            _whole(Path(file).read_bytes(), txn_index.ENTRY_BYTES)
        ):
            print(aborted_line(*row))
    elif suffix in (names.INDEX, names.TIME_INDEX):
        sanity, verify = dump.index_sanity_only, dump.verify_only
        kind = dump_indexes.offset if suffix == names.INDEX else dump_indexes.time
        for line in kind(file, sanity, verify, dump.indexes):
            print(line)
    elif "." in os.path.basename(file):
        print(f"Ignoring unknown file {file}", file=sys.stderr)
    else:
        dump.complain(f"Ignoring unknown file {file}")


def _dump_snapshot(dump: Dump, file: str) -> None:
    try:
        entries = producer_snapshot.decode(Path(file).read_bytes())
    except producer_snapshot.CorruptSnapshotError as error:
        sys.stdout.flush()
        print(f"{file} is no snapshot of producers: {error}", file=sys.stderr)
        return
    for producer_id, entry in entries.items():
        print(producer_line(producer_id, entry))


def _dump_data(dump: Dump, file: str) -> None:
    base_offset = dump_indexes.base_offset(file)
    for line in dump.deprecated:
        print(line)
    print(f"Log starting offset: {base_offset}")
    with open(file, "rb") as data:
        fd, size = data.fileno(), min(os.path.getsize(file), dump.max_bytes)
        valid = 0
        last_offset = -1
        for position, header in walk_headers(fd, 0, size):
            batch = memoryview(os.pread(fd, header.size_bytes, position))
            print(batch_line(header, position, crc_matches(header, batch)))
            if dump.deep:
                last_offset = _dump_records(dump, file, position, header, batch, last_offset)
            valid = position + header.size_bytes
        rest = os.pread(fd, _HEAD.size, valid)
    if valid < size and dump.max_bytes == INT32_MAX:
        print(f"Found {size - valid} invalid bytes at the end of {os.path.basename(file)}")
        sys.stdout.flush()
        _name_rest(dump, file, valid, rest)


def _name_rest(dump: Dump, file: str, position: int, rest: bytes) -> None:
    """Says what follows the last batch, unless it is merely one that was cut off."""
    if len(rest) < _HEAD.size:
        return
    _, length, _, magic = _HEAD.unpack(rest)
    where = f"{os.path.abspath(file)}, position {position}"
    if length < _LEGACY_OVERHEAD:
        dump.complain(
            f"Found record size {length} smaller than minimum record overhead"
            f" ({_LEGACY_OVERHEAD}) in {where}"
        )
    elif magic != MAGIC:
        dump.complain(f"Found message format {magic} in {where}: only format {MAGIC} is read")


def _dump_records(
    dump: Dump, file: str, position: int, header: BatchHeader, batch: memoryview, last_offset: int
) -> int:
    """Prints the records of a batch; the last offset that was seen."""
    for record in _readable(dump, file, position, header, batch):
        if last_offset not in (-1, record.offset - 1):
            pairs = dump.non_consecutive.setdefault(os.path.abspath(file), [])
            pairs.append((last_offset, record.offset))
        last_offset = record.offset
        line = record_line(header, record) if dump.metadata else ""
        if record.key is None and dump.keyed and not header.is_control:
            path = os.path.abspath(file)
            dump.keyless[path] = dump.keyless.get(path, 0) + 1
        elif dump.contents is not None and not header.is_control:
            line += contents_text(" " if line else "| ", *dump.contents(record))
        print(line)
    return last_offset


def _readable(
    dump: Dump, file: str, position: int, header: BatchHeader, batch: memoryview
) -> Iterator[Record]:
    """The records up to the first that does not hold together; that one is named and counted."""
    if header.count == 0:  # compaction left nothing but the state of the producer
        return
    try:
        yield from iter_records(header, batch)
    except (KafkaError, IndexError, ValueError) as error:
        path = os.path.abspath(file)
        dump.unreadable[path] = dump.unreadable.get(path, 0) + 1
        sys.stdout.flush()
        dump.complain(
            f"Unreadable records in {path}: the batch of offsets {header.base_offset} to"
            f" {header.last_offset} at position {position}: {error}"
        )


def _whole(data: bytes, entry_bytes: int) -> bytes:
    """As many whole entries as there are."""
    return data[: len(data) // entry_bytes * entry_bytes]


def _print_findings(dump: Dump) -> None:
    for line in dump_indexes.finding_lines(dump.indexes):
        print(line, file=sys.stderr)
    dump.failed = dump.failed or dump.indexes.damaged
    for path, pairs in dump.non_consecutive.items():
        print(f"Non-consecutive offsets in {path}", file=sys.stderr)
        for first, second in reversed(pairs):
            print(f"  {first} is followed by {second}", file=sys.stderr)
    for path, count in dump.keyless.items():
        dump.complain(
            f"Found {count} records without keys in {path}, which the decoder asked for cannot read"
        )
    for path, count in dump.unreadable.items():
        print(f"Found {count} batches with unreadable records in {path}", file=sys.stderr)
