"""Aborted transactions of a segment: those whose marker lies in it.

File `<base>.txnindex`: entries of 34 bytes, big-endian: int16 version 0, then as int64 the producer
id, the transaction's first and last offset (that of its marker) and the last stable offset when it
ended: below that every transaction was decided, so whoever looks for those that touch offsets below
it need not look further. There is no file where there is no entry.
"""

import errno
import os
import struct
from contextlib import suppress
from typing import Final, NamedTuple

from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.io.files import opened, read_whole

ENTRY: Final = struct.Struct(">hqqqq")
ENTRY_BYTES: Final = ENTRY.size
_VERSION: Final = 0


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read(path: str) -> list[AbortedTxn]:
    """The entries of a file; none where it is missing. Raises CorruptIndexError, OSError."""
    try:
        data = read_whole(path)
    except FileNotFoundError:
        return []
    if not data or len(data) % ENTRY_BYTES:
        raise CorruptIndexError(f"{path}: it does not hold whole entries")
    found: list[AbortedTxn] = []
    stable_offset = -1
    for version, *fields in ENTRY.iter_unpack(data):
        entry = AbortedTxn._make(fields)
        is_sound = 0 <= entry.first_offset <= entry.last_offset
        is_next = not found or found[-1].last_offset < entry.last_offset
        is_stable = stable_offset <= entry.last_stable_offset <= entry.last_offset + 1
        if version != _VERSION or entry.producer_id < 0 or not (is_sound and is_next and is_stable):
            raise CorruptIndexError(f"{path}: an entry does not hold together")
        stable_offset = entry.last_stable_offset
        found.append(entry)
    return found


def write(path: str, entries: list[AbortedTxn], start: int) -> None:
    """Have a file hold these entries, of which those before number `start` are in it already.
    Without entries there is no file. Raises OSError."""
    if not entries:
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    data = b"".join(ENTRY.pack(_VERSION, *entry) for entry in entries[start:])
    with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
        os.ftruncate(fd, start * ENTRY_BYTES)
        if os.pwrite(fd, data, start * ENTRY_BYTES) != len(data):
            raise OSError(errno.ENOSPC, "it could not be written as a whole", path)
