"""The memory of large clusters is released to the system."""

import subprocess
import sys

import pytest

from monitoring import process_memory

# In a process of its own: another pool and another threshold are not for the tests that follow.
_SMALL_AND_LARGE = """
import pyarrow as pa
from monitoring import process_memory

def resident_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

process_memory.prepare()
pa.array(range(5000))  # what it imports stays
before = resident_bytes()
pieces = [pa.array(range(5000)) for _ in range(4000)]
taken = resident_bytes() - before
del pieces
process_memory.release()
print(taken, resident_bytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_free_memory_is_released_to_the_system():
    told = subprocess.run(
        [sys.executable, "-c", _SMALL_AND_LARGE], capture_output=True, text=True, check=True
    )
    taken, kept = map(int, told.stdout.split())
    assert taken > 100 << 20
    assert kept < taken / 2


def test_memory_is_released_when_the_rows_fall_below_half(monkeypatch):
    released = []
    monkeypatch.setattr(process_memory, "release", lambda: released.append(True))
    memory = process_memory.ReleaseWhenSmaller()
    for rows in (100, 0, 50_000, 40_000, 30_000):
        memory.set_row_count(rows)
    assert not released  # little was held, or most of it still is
    memory.set_row_count(20_000)
    assert len(released) == 1
    memory.set_row_count(15_000)
    memory.set_row_count(0)
    assert len(released) == 2
