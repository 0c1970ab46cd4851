"""The real fork server under the real supervisor; the forks are small programs."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from stack import os_processes
from tests.stack import test_supervisor
from tests.stack.test_supervisor import SmallStack, run, wait_until

__all__ = ["run"]
SERVER = {
    "command": [sys.executable, "-m", "stack.fork_server"],
    "probe": "line",
    "target": "ready to fork",
}
SHARES = "import sys; print('imported:', 'console.urls' in sys.modules)"


def fork(code: str, target: str) -> dict[str, object]:
    """A program that the server forks: `timeit` runs the code, and then runs on."""
    command = [sys.executable, "-m", "timeit", "-n", "1", "-s", f"{code}; sys.stdout.flush()"]
    sleep = "import time; time.sleep(600)"
    after = ["fork-server"]
    return {"command": [*command, sleep], "stage": 1, "after": after, "probe": "line",
            "target": target}  # fmt: skip


@pytest.fixture
def stack(run: Callable[..., SmallStack], monkeypatch: pytest.MonkeyPatch) -> SmallStack:
    monkeypatch.setattr(test_supervisor, "DEADLINE_S", 90)  # the imports take seconds of a core
    started = run(**{
        "fork-server": SERVER,
        "one": fork(SHARES, "imported: True"),
        "two": fork("import sys; print('standard input:', sys.stdin.read())", "standard input:"),
    })  # fmt: skip
    started.wait_for("Small is ready")
    return started


def test_a_fork_has_imported_the_console_and_leads_a_session(stack: SmallStack) -> None:
    for name in ("one", "two"):
        assert psutil.Process(stack.pid(name)).ppid() == stack.pid("fork-server")
        assert os_processes.session_members(stack.pid(name)) == [stack.pid(name)]
    assert stack.stop() == 0


def test_a_killed_fork_restarts_alone(stack: SmallStack) -> None:
    one, two = stack.pid("one"), stack.pid("two")
    os.kill(one, signal.SIGKILL)
    stack.wait_for("one was killed by signal 9; restarting in 0.5 s")
    wait_until(lambda: stack.text().count("one is ready") == 2, "the fork's return", stack.text)
    assert stack.pid("one") != one
    assert stack.pid("two") == two
    assert stack.stop() == 0


def test_forks_of_a_killed_server_end_and_all_restart(stack: SmallStack) -> None:
    forks = [stack.pid("one"), stack.pid("two")]
    os.kill(stack.pid("fork-server"), signal.SIGKILL)
    for name in ("fork-server", "one", "two"):
        stack.wait_for(f"{name} was killed by signal 9")
        again = f"{name} is ready"
        wait_until(lambda text=again: stack.text().count(text) == 2, again, stack.text)
    assert not any(map(psutil.pid_exists, forks))
    assert stack.stop() == 0


def test_a_killed_supervisor_leaves_no_fork(stack: SmallStack) -> None:
    stack.process.kill()
    stack.process.wait()
    wait_until(lambda: stack.members() == [], "the guard to end all processes")


def test_the_server_starts_no_thread_and_opens_no_connection(stack: SmallStack) -> None:
    server = psutil.Process(stack.pid("fork-server"))
    threads = [Path(f"/proc/{server.pid}/task/{each.id}/comm") for each in server.threads()]
    names = [path.read_text().strip() for path in threads]
    assert len([name for name in names if name != "jemalloc_bg_thd"]) == 1, names
    assert [each.family for each in server.net_connections("inet")] == []
    assert stack.stop() == 0
