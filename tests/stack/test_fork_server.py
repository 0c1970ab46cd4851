"""The real fork server under the real supervisor; the forks are small programs."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from stack import os_processes
from tests.stack import test_supervisor
from tests.stack.test_supervisor import SmallStack, small_stacks, wait_until

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


@pytest.fixture(scope="module", autouse=True)
def _deadline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_supervisor, "DEADLINE_S", 90)  # the imports take seconds of a core
        yield


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallStack]:
    """One for all tests: the last of them ends it."""
    with small_stacks(tmp_path_factory.mktemp("forks")) as run:
        started = run(**{
            "fork-server": SERVER,
            "one": fork(SHARES, "imported: True"),
            "two": fork("import sys; print('standard input:', sys.stdin.read())",
                        "standard input:"),
        })  # fmt: skip
        started.wait_for("Small is ready")
        yield started


def test_a_fork_has_imported_the_console_and_leads_a_session(stack: SmallStack) -> None:
    for name in ("one", "two"):
        assert psutil.Process(stack.pid(name)).ppid() == stack.pid("fork-server")
        assert os_processes.session_members(stack.pid(name)) == [stack.pid(name)]


def test_the_server_starts_no_thread_and_opens_no_connection(stack: SmallStack) -> None:
    server = psutil.Process(stack.pid("fork-server"))
    threads = [Path(f"/proc/{server.pid}/task/{each.id}/comm") for each in server.threads()]
    names = [path.read_text().strip() for path in threads]
    assert len([name for name in names if name != "jemalloc_bg_thd"]) == 1, names
    assert [each.family for each in server.net_connections("inet")] == []


def test_a_killed_fork_restarts_alone(stack: SmallStack) -> None:
    one, two = stack.pid("one"), stack.pid("two")
    said = stack.text()
    os.kill(one, signal.SIGKILL)
    stack.wait_for("one was killed by signal 9; restarting in 0.5 s")
    wait_until_again(stack, "one is ready", said)
    assert stack.pid("one") != one
    assert stack.pid("two") == two


def test_forks_of_a_killed_server_end_and_all_restart(stack: SmallStack) -> None:
    forks = [stack.pid("one"), stack.pid("two")]
    said = stack.text()
    os.kill(stack.pid("fork-server"), signal.SIGKILL)
    for name in ("fork-server", "one", "two"):
        wait_until_again(stack, f"{name} was killed by signal 9", said)
        wait_until_again(stack, f"{name} is ready", said)
    assert not any(map(psutil.pid_exists, forks))


def wait_until_again(stack: SmallStack, text: str, said: str) -> None:
    """Until the text is there once more than in what was said before."""
    wait_until(lambda: stack.text().count(text) > said.count(text), text, stack.text)


def test_a_stop_ends_server_and_forks_and_so_does_the_end_of_a_killed_supervisor(
    stack: SmallStack,
) -> None:
    pids = [stack.pid(name) for name in ("fork-server", "one", "two")]
    assert stack.stop() == 0
    assert not any(map(psutil.pid_exists, pids))
    stack.start()
    stack.wait_for("Small is ready")
    stack.process.kill()
    stack.process.wait()
    wait_until(lambda: stack.members() == [], "the guard to end all processes")
