"""What `make test` runs: `python tools/run_tests.py [argument of pytest…]`.

Most of a test is waiting for other processes, so the suite runs as four pytests at the same time:
the tests of brokers and of the console's Kafka clients, those that need Spark, the others of
monitoring and the stack, and all others. They share nothing but the machine: each has its servers,
its ports, its data folder. The output of all but one is shown when all have ended.

Tests that failed there run once more when all have ended, with nothing beside them: what fails
only on a busy machine is named, and fails the run no more. That holds for a few failures in calls
and set-ups. A failed teardown is final: at the end of a run one checks what all tests wrote.

With arguments it is one pytest, with these. Exit code: 0 where all passed, else that of a pytest
that did not end well (130 after Ctrl-C).
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
OF_THE_BROKER = (
    "tests/brokerd", "tests/crash", "tests/interop",
    "tests/monitoring/gateway", "tests/monitoring/records",
)  # fmt: skip
WITH_SPARK = (
    "tests/monitoring/pipeline", "tests/monitoring/reports", "tests/monitoring/spark",
    "tests/monitoring/written_history", "tests/console/reports", "tests/console/pipeline",
)  # fmt: skip
OF_MONITORING = ("tests/monitoring", "tests/console/charts", "tests/stack")
FOLDERS = (OF_THE_BROKER, WITH_SPARK, OF_MONITORING, ("tests",))


def part_of(folders: Sequence[str]) -> tuple[str, ...]:
    """The arguments of pytest: the folders without those in them that another part names."""
    others = (it for part in FOLDERS if part is not folders for it in part)
    inside = tuple(f"{folder}/" for folder in folders)
    return (*folders, *(f"--ignore={it}" for it in others if it.startswith(inside)))


PARTS = tuple(map(part_of, FOLDERS))
PYTEST = (sys.executable, "-m", "pytest", "-q")
RETRIED_MAX = 10
_TESTS_FAILED = 1
_INTERRUPTED = 130


def run_and_retry(parts: Sequence[Sequence[str]]) -> int:
    """Run the parts, then those tests again that failed; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        records = [Path(folder, str(number)) for number in range(len(parts))]
        recorded = [
            [*part, "-o", f"cache_dir={record}", f"--junitxml={record}.xml"]
            for part, record in zip(parts, records, strict=True)
        ]
        code = run(recorded)
        if code != _TESTS_FAILED or not all(may_retry(record) for record in records):
            return code
        again = [
            run([[*part, "--last-failed", "--last-failed-no-failures=none"]])
            for part, record in zip(recorded, records, strict=True)
            if _failed(record)
        ]
    return max(again, default=code)


def may_retry(record: Path) -> bool:
    """Whether the failures of a pytest, from its cache and its JUnit report, are worth a retry."""
    report = Path(f"{record}.xml")
    failed = _failed(record)
    if not report.is_file() or len(failed) > RETRIED_MAX:
        return False
    errors = ElementTree.parse(report).iter("error")
    if any("on teardown" in error.get("message", "") for error in errors):
        return False
    if failed:
        print(
            "\nThese tests failed. They run once more, by themselves:",
            *failed,
            sep="\n  ",
            flush=True,
        )
    return True


def _failed(record: Path) -> list[str]:
    """The tests that failed, from pytest's cache."""
    cache = record / "v" / "cache" / "lastfailed"
    return list(json.loads(cache.read_text())) if cache.is_file() else []


def run(parts: Sequence[Sequence[str]]) -> int:
    """Run pytest once with each of these arguments, all at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder, str(number)) for number in range(1, len(parts))]
        first, *others = parts
        running = [subprocess.Popen([*PYTEST, *first], cwd=ROOT)]
        for part, log in zip(others, logs, strict=True):
            with log.open("wb") as output:
                running.append(
                    subprocess.Popen(
                        [*PYTEST, *part], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
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
    sys.exit(run([sys.argv[1:]]) if sys.argv[1:] else run_and_retry(PARTS))
