"""What `make test` runs: `python tools/run_tests.py [argument of pytest…]`.

Most of a test is waiting for other processes, so the suite runs as two pytests at the same time:
the broker's tests, and all others. They share nothing but the machine: each has its servers, its
ports, its data folder. What the second says is shown when the first has ended.

With arguments it is one pytest, with these. Exit code: 0 where all passed, else that of a pytest
that did not end well (130 after Ctrl-C).
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OF_THE_BROKER = ("tests/brokerd", "tests/crash", "tests/interop")
HALVES = (OF_THE_BROKER, ("tests", *(f"--ignore={folder}" for folder in OF_THE_BROKER)))
PYTEST = (sys.executable, "-m", "pytest", "-q")
_INTERRUPTED = 130


def run(halves: Sequence[Sequence[str]]) -> int:
    """Run pytest once with each of these arguments, all at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder, str(number)) for number in range(1, len(halves))]
        first, *others = halves
        running = [subprocess.Popen([*PYTEST, *first], cwd=ROOT)]
        for half, log in zip(others, logs, strict=True):
            with log.open("wb") as output:
                running.append(
                    subprocess.Popen(
                        [*PYTEST, *half], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
                    )
                )
        code = _ended(running)
        for log in logs:
            sys.stdout.write(f"\n{log.read_text(errors='replace')}")
    return code


def _ended(running: Sequence["subprocess.Popen[bytes]"]) -> int:
    """Waits for all; the exit code."""
    interrupted = 0
    while True:
        try:
            codes = [process.wait() for process in running]
        except KeyboardInterrupt:  # which all of them got; each stops its servers first
            interrupted = _INTERRUPTED
        else:
            return interrupted or next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(run([sys.argv[1:]] if sys.argv[1:] else HALVES))
