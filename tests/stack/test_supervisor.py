"""The real supervisor with small real processes, which the tests kill."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stack import data_folder_lock, os_processes
from stack.data_folder_lock import StackFile
from stack.shutdown import Refused, down, reset
from tests.support.forks import CONSOLE, Forked
from tests.support.ports import free_port

DEADLINE_S = 20
ROOT = Path(__file__).parents[2]
SLEEP = ["sleep", "600"]
# A leader with a child in its session, one in a process group and one in a session of its own.
FAMILY = [
    sys.executable,
    "-c",
    "import os, subprocess, time\n"
    "subprocess.Popen(['sleep', '600'])\n"
    "subprocess.Popen(['sleep', '600'], process_group=0)\n"
    "subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    "print('the family is complete', flush=True)\n"
    "time.sleep(600)\n",
]
STUBBORN = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"]


class SmallStack:
    """A supervisor process that runs the programs that a test chooses."""

    def __init__(self, data: Path, programs: dict[str, dict[str, object]]) -> None:
        self.data = data
        self.output = data.parent / "output"
        (data / "programs.json").write_text(json.dumps(programs))
        self.process: Forked | subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        command = ("tests.stack.small_stack", str(self.data))
        with self.output.open("wb") as output:
            if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # a fork does not inherit it
                self.process = subprocess.Popen(
                    [sys.executable, "-m", *command], stdout=output, stderr=output, cwd=ROOT
                )
            else:
                self.process = CONSOLE.start(*command, output=output, environ=os.environ)

    def text(self) -> str:
        return self.output.read_text()

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.text(), f"{text!r} in:\n", self.text)

    def file(self) -> StackFile:
        stack_file = data_folder_lock.load_stack_file(self.data)
        assert stack_file is not None
        return stack_file

    def pid(self, name: str) -> int:
        return int(self.file().processes[name]["pid"])

    def members(self) -> list[int]:
        stack_file = data_folder_lock.load_stack_file(self.data)
        return (
            os_processes.stack_members(stack_file.stack_id, stack_file.leaders())
            if stack_file
            else []
        )

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(DEADLINE_S)


@pytest.fixture(autouse=True)
def hears_hangups() -> Iterator[None]:
    """Restores the default handlers: nohup or cron may have made this process ignore the
    signals."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def wait_until(
    is_so: Callable[[], bool], what: str, detail: Callable[[], str] = lambda: ""
) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for {what}{detail()}"
        time.sleep(0.02)


@contextmanager
def small_stacks(folder: Path) -> Iterator[Callable[..., SmallStack]]:
    """A function that starts one in the folder; all end in the end."""
    started: list[SmallStack] = []

    def start(**programs: dict[str, object]) -> SmallStack:
        data = folder / "data"
        data.mkdir(0o700)
        started.append(SmallStack(data, programs))
        return started[-1]

    yield start
    for stack in started:
        if stack.process.poll() is None:
            stack.process.kill()
            stack.process.wait()
        if (stack_file := data_folder_lock.load_stack_file(stack.data)) is not None:
            os_processes.end_stack(stack_file.stack_id, stack_file.leaders(), 0.1)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., SmallStack]]:
    with small_stacks(tmp_path) as start:
        yield start


def alive(pid: int) -> bool:
    return os_processes.start_time(pid) is not None and bool(
        pid in os_processes.session_members(pid)
    )


def test_processes_start_in_order_of_readiness(run: Callable[..., SmallStack]) -> None:
    print_line = "import time\nprint('{}', flush=True)\ntime.sleep(600)\n"
    stack = run(
        last={
            "command": [sys.executable, "-c", print_line.format("LAST runs")],
            "stage": 2,
            "after": ["task"],
            "probe": "line",
            "target": "LAST runs",
        },
        task={"command": ["sh", "-c", "echo TASK done"], "stage": 1, "after": ["first"],
              "probe": "exit"},
        first={"command": [sys.executable, "-c", print_line.format("FIRST runs")], "probe": "line",
               "target": "FIRST runs"},
    )  # fmt: skip
    stack.wait_for("Small is ready")
    text = stack.text()
    assert text.index("FIRST runs") < text.index("TASK done") < text.index("LAST runs")
    assert stack.stop() == 0


def test_a_large_process_is_restarted_when_its_clients_have_gone(
    run: Callable[..., SmallStack],
) -> None:
    port = free_port()
    serve = f"import socket\nserver = socket.create_server(('127.0.0.1', {port}))\n"
    accept = "while True:\n  client = server.accept()[0]\n  client.recv(1)\n  client.close()\n"
    stack = run(
        large={"command": [sys.executable, "-c", serve + accept], "probe": "tcp",
               "target": str(port), "memory_max_mb": 1},
        other={"command": SLEEP},
    )  # fmt: skip
    stack.wait_for("Small is ready")
    with socket.create_connection(("127.0.0.1", port)):
        time.sleep(2)  # a check sees the client
    stack.wait_for("; restarting it")
    wait_until(lambda: stack.text().count("large is ready") > 1, "the second start", stack.text)
    assert "ended with" not in stack.text()
    assert "was killed" not in stack.text()


def test_ctrl_c_stops_everything_and_prints_it(run: Callable[..., SmallStack]) -> None:
    stack = run(
        a={"command": SLEEP},
        b={"command": FAMILY, "stage": 1, "after": ["a"], "probe": "line", "target": "complete"},
    )
    stack.wait_for("Small is ready")
    stack_file = stack.file()
    assert len(stack.members()) == 5
    assert stack.stop() == 0
    assert "Stopped" in stack.text()
    assert os_processes.stack_members(stack_file.stack_id, stack_file.leaders()) == []
    assert data_folder_lock.load_stack_file(stack.data) is None


def test_a_closed_terminal_stops_everything_even_if_make_is_the_session_leader(
    tmp_path: Path,
) -> None:
    """SIGHUP reaches only the session's leader, which waits for the supervisor."""
    data = tmp_path / "data"
    data.mkdir(0o700)
    (data / "programs.json").write_text(json.dumps({"plain": {"command": SLEEP}}))
    supervisor = f"{sys.executable} -m tests.stack.small_stack {data}"
    leader, terminal = pty.fork()
    if leader == 0:  # like make: ignores SIGHUP until its child has ended
        os.chdir(ROOT)
        os.execvp("sh", ["sh", "-c", f"trap : HUP; (trap - HUP; exec {supervisor}) & wait; wait"])
    wait_until(
        lambda: (
            (stack_file := data_folder_lock.load_stack_file(data)) is not None and stack_file.ready
        ),
        "the stack",
    )
    stack_file = data_folder_lock.load_stack_file(data)
    assert stack_file is not None
    try:
        os.close(terminal)
        wait_until(lambda: data_folder_lock.load_stack_file(data) is None, "the stack to stop")
        assert os_processes.stack_members(stack_file.stack_id, stack_file.leaders()) == []
    finally:
        os_processes.send_signal([stack_file.pid], signal.SIGKILL)
        os.waitpid(leader, 0)


def test_a_stack_started_with_nohup_ignores_sighup(run: Callable[..., SmallStack]) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # inherited by what is started now
    try:
        stack = run(plain={"command": SLEEP})
    finally:
        signal.signal(signal.SIGHUP, before)
    stack.wait_for("Small is ready")
    stack.process.send_signal(signal.SIGHUP)
    os.kill(stack.pid("plain"), signal.SIGKILL)
    wait_until(lambda: stack.text().count("plain is ready") == 2, "the process's return")
    assert stack.stop() == 0


def test_sighup_stops_everything(run: Callable[..., SmallStack]) -> None:
    stack = run(plain={"command": SLEEP})
    stack.wait_for("Small is ready")
    stack.process.send_signal(signal.SIGHUP)
    assert stack.process.wait(DEADLINE_S) == 0
    assert "Stopped" in stack.text()


@pytest.mark.parametrize("lines", [0, 1, 3])
def test_a_supervisor_killed_while_it_starts_leaves_no_orphan(
    run: Callable[..., SmallStack], lines: int
) -> None:
    stack = run(first={"command": SLEEP}, second={"command": FAMILY, "after": ["first"]})
    wait_until(
        lambda: data_folder_lock.load_stack_file(stack.data) is not None, "a stack that starts"
    )
    wait_until(lambda: stack.text().count("\n") >= lines, "its first lines")
    stack_file = stack.file()
    stack.process.kill()
    stack.process.wait()
    leaders = [int(each["pid"]) for each in stack_file.processes.values()]
    wait_until(
        lambda: os_processes.stack_members(stack_file.stack_id, leaders) == [],
        "the guard to end all processes",
    )
    wait_until(lambda: guards_that_run(stack_file.stack_id) == [], "the guard to end")
    assert os_processes.stack_members(stack_file.stack_id, leaders) == []


def guards_that_run(stack_id: str) -> list[int]:
    return [
        process.pid
        for process in os_processes.psutil.process_iter(["cmdline"])
        if stack_id in (process.info["cmdline"] or [])
    ]


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace_period(
    run: Callable[..., SmallStack],
) -> None:
    stack = run(deaf={"command": STUBBORN, "probe": "line", "target": "deaf"})
    stack.wait_for("Small is ready")
    assert stack.stop() == 0
    assert "deaf did not stop in time" in stack.text()


def test_a_killed_process_restarts_and_its_children_are_killed(
    run: Callable[..., SmallStack],
) -> None:
    stack = run(family={"command": FAMILY, "probe": "line", "target": "complete"})
    stack.wait_for("Small is ready")
    first = stack.pid("family")
    os.kill(first, signal.SIGKILL)
    stack.wait_for("family was killed by signal 9; restarting in 0.5 s")
    wait_until(lambda: stack.text().count("family is ready") == 2, "the family's return")
    assert stack.pid("family") != first
    assert os_processes.session_members(first) == []
    assert stack.stop() == 0


def test_a_killed_supervisor_leaves_no_orphan(run: Callable[..., SmallStack]) -> None:
    stack = run(
        family={"command": FAMILY, "probe": "line", "target": "complete"},
        plain={"command": SLEEP},
    )
    stack.wait_for("Small is ready")
    assert len(stack.members()) == 5
    stack.process.kill()
    stack.process.wait()
    wait_until(lambda: stack.members() == [], "the guard to end all processes")


def test_a_killed_guard_is_replaced(run: Callable[..., SmallStack]) -> None:
    stack = run(plain={"command": SLEEP})
    stack.wait_for("Small is ready")
    [guard] = guards_of(stack.process.pid)
    os.kill(guard, signal.SIGKILL)
    stack.wait_for("the guard ended; starting a new one")
    wait_until(lambda: len(guards_of(stack.process.pid)) == 1, "a new guard")
    stack.process.kill()
    stack.process.wait()
    wait_until(lambda: stack.members() == [], "the new guard to end all processes")


def guards_of(supervisor: int) -> list[int]:
    children = os_processes.psutil.Process(supervisor).children()
    return [child.pid for child in children if "stack.guard" in child.cmdline()]


def test_a_missing_program_is_reported_and_retried(
    run: Callable[..., SmallStack],
) -> None:
    stack = run(ghost={"command": ["/no/such/program"]}, plain={"command": SLEEP})
    stack.wait_for("ghost cannot be started: [Errno 2] No such file or directory")
    stack.wait_for("ghost ended with status 127; restarting in 1 s")
    assert stack.stop() == 0


def test_a_second_supervisor_on_the_same_data_folder_is_refused(
    run: Callable[..., SmallStack],
) -> None:
    stack = run(plain={"command": SLEEP})
    stack.wait_for("Small is ready")
    second = subprocess.run(
        [sys.executable, "-m", "tests.stack.small_stack", str(stack.data)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert second.returncode == 1
    assert f"Aerie is already running on {stack.data}" in second.stderr
    assert alive(stack.pid("plain"))
    assert stack.stop() == 0


@pytest.mark.parametrize("has_guard", [True, False])
def test_leftover_processes_end_before_zookeeper_and_redis(
    run: Callable[..., SmallStack], tmp_path: Path, has_guard: bool
) -> None:
    pid, told = tmp_path / "pid", tmp_path / "told"
    tell = f"sleep 0.5; kill -0 $(cat {pid}) && touch {told}; exit"
    loop = "while :; do sleep 0.1; done"  # its errors would go to a pipe that nobody reads
    stack = run(
        store={"command": ["sh", "-c", f"echo $$ > {pid}; echo up; exec sleep 600"],
               "probe": "line", "target": "up"},
        user={"command": ["sh", "-c", f"exec 2>/dev/null; trap '{tell}' TERM; echo up; {loop}"],
              "probe": "line", "target": "up", "stage": 1},
    )  # fmt: skip
    stack.wait_for("Small is ready")
    if not has_guard:
        os.kill(stack.process.pid, signal.SIGSTOP)  # so that it cannot start another one
        for guard in guards_of(stack.process.pid):
            os.kill(guard, signal.SIGKILL)
    stack_file = stack.file()
    stack.process.kill()
    stack.process.wait()
    if not has_guard:
        assert down(stack.data) == "Stopped"
    leaders = [int(each["pid"]) for each in stack_file.processes.values()]
    wait_until(
        lambda: os_processes.stack_members(stack_file.stack_id, leaders) == [], "the end of both"
    )
    assert told.exists()


def test_down_stops_a_running_stack(run: Callable[..., SmallStack]) -> None:
    stack = run(family={"command": FAMILY, "probe": "line", "target": "complete"})
    stack.wait_for("Small is ready")
    assert down(stack.data) == "Stopped"
    assert stack.process.wait(DEADLINE_S) == 0
    assert down(stack.data) == "Nothing was running"


def test_down_ends_leftover_processes(run: Callable[..., SmallStack]) -> None:
    stack = run(family={"command": FAMILY, "probe": "line", "target": "complete"})
    stack.wait_for("Small is ready")
    for guard in guards_of(stack.process.pid):
        os.kill(stack.process.pid, signal.SIGSTOP)  # so that it cannot start another one
        os.kill(guard, signal.SIGKILL)
    stack.process.kill()
    stack.process.wait()
    assert len(stack.members()) == 4
    assert down(stack.data) == "Stopped"
    assert stack.members() == []


def test_the_next_start_ends_leftover_processes(run: Callable[..., SmallStack]) -> None:
    stack = run(plain={"command": SLEEP})
    stack.wait_for("Small is ready")
    left = stack.pid("plain")
    os.kill(stack.process.pid, signal.SIGSTOP)
    for guard in guards_of(stack.process.pid):
        os.kill(guard, signal.SIGKILL)
    stack.process.kill()
    stack.process.wait()
    assert alive(left)
    stack.start()
    stack.wait_for("Small is ready")
    assert "ended 1 process that an earlier start had left running" in stack.text()
    assert not alive(left)
    assert stack.stop() == 0


def test_reset_refuses_while_a_stack_runs_and_empties_the_folder_after(
    run: Callable[..., SmallStack],
) -> None:
    stack = run(plain={"command": SLEEP})
    stack.wait_for("Small is ready")
    with pytest.raises(Refused, match="make down"):
        reset(stack.data)
    assert stack.stop() == 0
    (stack.data / "brokerd-1").mkdir()
    reset(stack.data)
    assert [entry.name for entry in stack.data.iterdir()] == ["stack.lock"]


def test_reset_refuses_a_folder_that_is_not_aeries(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(Refused, match="nothing was deleted"):
        reset(tmp_path)
    assert (tmp_path / "thesis.tex").exists()
