"""Aborted transactions of a segment: those whose marker lies in it.

File `<base>.txnindex`: entries of 34 bytes, big-endian: int16 version 0, then as int64 the producer
id, the transaction's first and last offset (that of its marker) and the last stable offset when it
ended: below that every transaction was decided, so whoever looks for those that touch offsets below
it need not look further. There is no file where there is no entry.
"""

import os
import struct
from typing import Final, NamedTuple

from brokerd.log import crash_points

_ENTRY: Final = struct.Struct(">hqqqq")
ENTRY_BYTES: Final = _ENTRY.size
_VERSION: Final = 0


class AbortedTxn(NamedTuple):
    """One aborted transaction, as in the file."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read(path: str) -> list[AbortedTxn]:
    """The entries of a file; none where it is missing. Raises OSError.

    It ends at the first entry that does not hold together, as half of one that was being written.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    found = []
    whole = len(data) - len(data) % ENTRY_BYTES
    for version, *fields in _ENTRY.iter_unpack(memoryview(data)[:whole]):
        if version != _VERSION or not 0 <= fields[1] <= fields[2]:
            break
        found.append(AbortedTxn._make(fields))
    return found


@crash_points.around("txnindex-write")
def write(path: str, entries: list[AbortedTxn], start: int) -> None:
    """Have a file hold these entries, of which those before number `start` are in it already.

    Without entries there is no file. Raises OSError.
    """
    if not entries:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        return
    data = b"".join(_ENTRY.pack(_VERSION, *entry) for entry in entries[start:])
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(fd, start * ENTRY_BYTES)
        if os.pwrite(fd, data, start * ENTRY_BYTES) != len(data):
            raise OSError(28, "it could not be written as a whole", path)
    finally:
        os.close(fd)
