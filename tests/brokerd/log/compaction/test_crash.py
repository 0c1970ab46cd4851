"""kill -9 at every point of a cleaning: after the restart nobody learns anything else of a key."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.brokerd.log.compaction.support import CompactedLog, last_values

ROOT = str(Path(__file__).parents[4])
POINTS = (
    "cleaned-written", "swap.index", "swap.timeindex", "swap.txnindex", "swap.log", "old-deleted",
    "final.log", "final.txnindex", "final.timeindex", "final.index", "before-cleaner-checkpoint",
    "after-cleaner-checkpoint",
)  # fmt: skip
CLEAN = """
import sys
from pathlib import Path
from tests.brokerd.log.compaction.support import CompactedLog, keyed

log = CompactedLog(Path(sys.argv[1]))
for number in range(400):
    key = b"only-%d" % number if number % 7 == 0 else b"%d" % (number * number % 60)
    value = None if number % 11 == 0 else b"v%d" % number
    log.append(keyed([(key, value)], codec=number % 5, producer=(number % 3, 0, number // 3)))
print(*(f"{offset} {key.decode()} {(value or b'-').decode()}" for offset, key, value in
        log.content()), sep="\\n", flush=True)
log.clean()
"""


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_loses_nothing(tmp_path: Path, point: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLEAN, str(tmp_path)], cwd=ROOT, check=False, text=True,
        env={**os.environ, "PYTHONPATH": ROOT, "BROKERD_CRASH_AT": point}, stdout=subprocess.PIPE,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    written = [line.split() for line in done.stdout.splitlines()]
    before = [
        (int(offset), key.encode(), None if value == "-" else value.encode())
        for offset, key, value in written
    ]
    assert len(before) == 400
    log = CompactedLog(tmp_path)
    assert log.log.log_end_offset == 400
    after = log.content()
    assert set(after) <= set(before)
    assert last_values(after) == last_values(before)
    assert not list(Path(log.log.directory).glob("*.swap"))
    assert not list(Path(log.log.directory).glob("*.cleaned"))
    log.clean()
    assert last_values(log.content()) == last_values(before)
    assert len(log.content()) < 400
    log.manager.shutdown()
