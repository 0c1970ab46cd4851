"""`brokerd dump-log`: prints the files of a log, of Kafka or brokerd, as Kafka's DumpLogSegments.
That ends at the first damage; this one reports it, goes on with what can still be read, and exits
with 1."""

import errno
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.cli import dump_decoders, dump_indexes, dump_lines
from brokerd.cli.options import CliError, OptionParser, Options, int32, run
from brokerd.config.value_parsers import words
from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.log import file_names, producer_snapshot
from brokerd.log.indexes import transaction_index
from brokerd.log.io.scan_batches import walk_headers
from brokerd.protocol.records import MAGIC, BatchHeader, Record, crc_matches, iter_records

_HEAD = struct.Struct(">qiib")  # of a batch, up to its magic
_OUTPUT_FAILED = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of writing only


@dataclass(slots=True)
class Dump:
    """The options, and the problems found so far."""

    options: Options
    decoder: dump_decoders.Decoder | None
    found: dump_indexes.Findings = field(default_factory=dump_indexes.Findings)

    def report(self, line: str) -> None:
        sys.stdout.flush()
        print(line, file=sys.stderr)
        self.found.failed = True


def dump_log(arguments: Sequence[str]) -> int:
    parser = OptionParser("dump-log", "Print the contents of segments, indexes and snapshots.")
    parser.option("files", "REQUIRED: the files, separated by commas.", "FILE,…")
    parser.flag("print-data-log", "Print keys and payloads. Implies --deep-iteration.")
    parser.flag("deep-iteration", "A line for each record, not only for each batch.")
    parser.flag("verify-index-only", "Check indexes without printing them.")
    parser.flag("index-sanity-check", "Check only what a broker checks when it starts.")
    parser.flag("offsets-decoder", "Show the records of __consumer_offsets.")
    parser.flag("transaction-log-decoder", "Show the records of __transaction_state.")
    parser.flag("skip-record-metadata", "Leave out offset, time and sizes of records.")
    parser.option("max-bytes", "Read this much of each data file.", "N", int32, default=INT32_MAX)
    parser.option("max-message-size", "Accepted and ignored.", "N", int32, default=5 << 20)
    decoders = "String-, Integer-, Long- or DefaultDecoder."
    parser.option("key-decoder-class", decoders, "CLASS")
    parser.option("value-decoder-class", decoders, "CLASS")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    options.check_required("files")
    dump = Dump(options, _decoder(options))
    for file in words(options.files):
        print(f"Dumping {file}")
        try:
            _dump_file(dump, file)
        except (OSError, CliError) as error:
            if getattr(error, "errno", None) in _OUTPUT_FAILED:
                raise
            dump.report(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}")
    sys.stdout.flush()
    for heading, lines in dump.found.lines.items():
        print(heading, *lines, sep="\n", file=sys.stderr)
    return int(dump.found.failed)


def _decoder(options: Options) -> dump_decoders.Decoder | None:
    if options.offsets_decoder:
        return dump_decoders.offsets
    if options.transaction_log_decoder:
        return dump_decoders.transactions
    key_class, value_class = options.key_decoder_class, options.value_decoder_class
    if options.print_data_log or key_class or value_class:
        string = dump_decoders.STRING
        return dump_decoders.plain(key_class or string, value_class or string)
    return None


def _dump_file(dump: Dump, file: str) -> None:
    suffix = os.path.splitext(file)[1]
    if suffix == file_names.LOG:
        _dump_data(dump, file)
    elif suffix == file_names.SNAPSHOT:
        _dump_snapshot(dump, file)
    elif suffix == file_names.TXN_INDEX:
        for row in dump_indexes.entries(transaction_index.ENTRY, Path(file).read_bytes()):
            print(dump_lines.aborted_line(*row))
    elif suffix in (file_names.INDEX, file_names.TIME_INDEX):
        sanity, verify = dump.options.index_sanity_check, dump.options.verify_index_only
        is_offset = suffix == file_names.INDEX
        lines_of = dump_indexes.offset_index_lines if is_offset else dump_indexes.time_index_lines
        for line in lines_of(file, sanity, verify, dump.found):
            print(line)
    else:
        dump.report(f"Ignoring unknown file {file}")


def _dump_snapshot(dump: Dump, file: str) -> None:
    try:
        entries = producer_snapshot.decode(Path(file).read_bytes())
    except producer_snapshot.CorruptSnapshotError as error:
        sys.stdout.flush()
        print(f"{file} is not a producer snapshot: {error}", file=sys.stderr)
        return
    for producer_id, entry in entries.items():
        print(dump_lines.producer_line(producer_id, entry))


def _dump_data(dump: Dump, file: str) -> None:
    base_offset = dump_indexes.base_offset(file)
    print(f"Log starting offset: {base_offset}")
    deep = dump.options.deep_iteration or dump.decoder is not None
    with open(file, "rb") as data:
        fd, size = data.fileno(), min(os.path.getsize(file), dump.options.max_bytes)
        valid = 0
        last_offset = -1
        for position, header in walk_headers(fd, 0, size):
            batch = memoryview(os.pread(fd, header.size_bytes, position))
            print(dump_lines.batch_line(header, position, crc_matches(header, batch)))
            if deep:
                last_offset = _dump_records(dump, file, position, header, batch, last_offset)
            valid = position + header.size_bytes
        rest = os.pread(fd, _HEAD.size, valid)
    if valid < size and dump.options.max_bytes == INT32_MAX:
        print(f"Found {size - valid} invalid bytes at the end of {os.path.basename(file)}")
        _report_rest(dump, file, valid, rest)


def _report_rest(dump: Dump, file: str, position: int, rest: bytes) -> None:
    """Reports what follows the last batch, unless it is zeros or has the magic of a batch."""
    if len(rest) < _HEAD.size:
        return
    _, _, _, magic = _HEAD.unpack(rest)
    if any(rest) and magic != MAGIC:  # zeros: Kafka preallocates files
        where = f"{os.path.abspath(file)}, position {position}"
        dump.report(f"Found message format {magic} in {where}: only format {MAGIC} is read")


def _dump_records(
    dump: Dump, file: str, position: int, header: BatchHeader, batch: memoryview, last_offset: int
) -> int:
    """Prints the records of a batch; returns the last offset."""
    for record in _readable_records(dump, file, position, header, batch):
        if last_offset not in (-1, record.offset - 1):
            dump.found.note(
                f"Non-consecutive offsets in {os.path.abspath(file)}",
                f"  {last_offset} is followed by {record.offset}",
            )
        last_offset = record.offset
        is_short = dump.options.skip_record_metadata
        line = "" if is_short else dump_lines.record_line(header, record)
        if dump.decoder is not None and not header.is_control:
            line += dump_lines.contents_text(" " if line else "| ", *dump.decoder(record))
        print(line)
    return last_offset


def _readable_records(
    dump: Dump, file: str, position: int, header: BatchHeader, batch: memoryview
) -> Iterator[Record]:
    """The records up to the first that cannot be decoded, which is reported."""
    if header.count == 0:  # compaction left nothing but the state of the producer
        return
    try:
        yield from iter_records(header, batch)
    except (KafkaError, IndexError, ValueError) as error:
        dump.report(
            f"Unreadable records in {os.path.abspath(file)}: the batch of offsets"
            f" {header.base_offset} to {header.last_offset} at position {position}: {error}"
        )
