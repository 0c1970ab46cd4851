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
process_memory.give_back()
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
    given_back = []
    monkeypatch.setattr(process_memory, "give_back", lambda: given_back.append(True))
    level = process_memory.RowLevel()
    for rows in (100, 0, 50_000, 40_000, 30_000):
        level.note(rows)
    assert not given_back  # little was held, or most of it still is
    level.note(20_000)
    assert len(given_back) == 1
    level.note(15_000)
    level.note(0)
    assert len(given_back) == 2
