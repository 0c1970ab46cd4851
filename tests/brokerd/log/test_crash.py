"""kill -9 under load: every record that was acknowledged is there, and the log goes on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from brokerd.config.log_config import LogConfig
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager, records

WRITER = """
import sys
from brokerd.config.log_config import LogConfig
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager

manager = open_manager([sys.argv[1]], 1, now_ms=NOW_MS)
log = manager.create("t", 0, TOPIC_ID, LogConfig(segment_bytes=50_000), NOW_MS)
sequence = log.log_end_offset
while True:
    group = [batch(1, size=200, producer=(5, 0, sequence + i)) for i in range(3)]
    results = log.append(group, 0, NOW_MS)
    assert all(result.error is None for result in results), results
    sequence += 3
    print(results[-1].last_offset, flush=True)
"""


def test_what_was_acknowledged_before_a_kill_is_read_back(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    acknowledged = -1
    for lines in (700, 100, 1):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ, "PYTHONPATH": root},
        ) as writer:  # fmt: skip
            assert writer.stdout is not None
            for _ in range(lines):
                acknowledged = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            for line in writer.stdout:
                if line.endswith("\n"):
                    acknowledged = int(line)
        manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
        log = manager.create("t", 0, TOPIC_ID, LogConfig(segment_bytes=50_000), NOW_MS)
        got = [record.offset for record in records(log)]
        assert got == list(range(len(got)))
        assert len(got) > acknowledged
        last = len(got) - 1
        (again,) = log.append([batch(1, producer=(5, 0, last))], 0, NOW_MS)
        assert (again.duplicate, again.base_offset) == (True, last)
        manager.shutdown()
