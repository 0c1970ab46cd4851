"""Runs the processes of the stack: carries out the actions of `lifecycle.Stack`, reports events to
it.

It has one event loop. Each process is the leader of a session, so that Ctrl-C reaches only the
supervisor, and the children of a dead process can be found and ended. If the supervisor itself is
killed, guard.py ends all processes.
"""

import asyncio
import os
import signal
import string
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from monitoring.clock import now_ms
from stack import idle_memory, os_processes
from stack.data_folder_lock import StackFile, remove_stack_file
from stack.fork_client import Child, ForkClient
from stack.lifecycle import Action, AnnounceReady, Kill, PrintLine, Stack, Start, Terminate
from stack.output import LineSplitter, LogFile, Terminal
from stack.probes import Prober
from stack.process_states import State
from stack.process_table import FORK_SERVER, Probe, ProbeKind, Role

INTERVAL_S = 0.1
PROBE_EVERY_S = 0.15
READ_BYTES = 65_536
DRAIN_S = 2.0
OWN_NAME = "aerie"
NOT_STARTED = 127  # the exit status of a command that cannot be run, as in a shell


@dataclass(frozen=True, slots=True)
class Program:
    """The command of a process, and its role."""

    command: list[str]
    role: Role


class Supervisor:
    """One run of the stack, from start to stop."""

    def __init__(
        self,
        programs: Mapping[str, Program],
        variables: Mapping[str, str],
        data: Path,
        prober: Prober,
        url: str,
        on_ready: Callable[[], str],
    ) -> None:
        self._programs = programs
        self._data = data
        self._prober = prober
        self._on_ready = on_ready
        self._stack_id = uuid.uuid4().hex
        self._environment = {
            **os.environ,
            **variables,
            os_processes.STACK_ID_VARIABLE: self._stack_id,
        }
        self._variables = variables
        self._terminal = Terminal([OWN_NAME, *programs])
        self._logs = {
            name: LogFile(data / "logs" / f"{name}.log") for name in [OWN_NAME, *programs]
        }
        self._children: dict[str, Child] = {}
        self._fork_client = ForkClient()
        self._leaders: dict[int, int] = {}  # process id → stage
        self._tasks: set[asyncio.Task[None]] = set()
        self._guard: asyncio.subprocess.Process | None = None
        pid = os.getpid()
        self._file = StackFile(self._stack_id, pid, os_processes.start_time(pid) or 0.0, url)

    async def run(self) -> None:
        """Start all processes and keep them running; return when a signal has stopped them."""
        self._stack = Stack({name: p.role for name, p in self._programs.items()}, _now_ms())
        loop = asyncio.get_running_loop()
        outlives_terminal = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # nohup
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or not outlives_terminal:
                loop.add_signal_handler(number, self._stop)
        self._file.save(self._data)
        await self._start_guard()  # before the first process
        self._spawn(self._restart_guard())
        while not self._stack.is_stopped:
            if self._terminal.is_closed and not outlives_terminal and not self._stack.stopping:
                self._stop()
            self._perform(self._stack.advance(_now_ms()))
            await asyncio.sleep(INTERVAL_S)
        await self._close()

    def _stop(self) -> None:
        if not self._stack.stopping:
            self._print_line("Stopping …")
        self._perform(self._stack.stop(_now_ms()))

    async def _close(self) -> None:
        """Kill remaining processes, end the guard, delete stack.json."""
        left = os_processes.stack_members(self._stack_id, self._leaders)
        os_processes.send_signal(left, signal.SIGKILL)
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            await guard.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        remove_stack_file(self._data)
        self._print_line("Stopped")
        self._terminal.close()
        for log in self._logs.values():
            log.close()
        self._fork_client.close()

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Start(name):
                    self._spawn(self._run_process(name))
                case Terminate(name):
                    if name in self._children:
                        os_processes.send_signal([self._children[name].pid], signal.SIGTERM)
                case Kill(name):
                    if name in self._children:
                        members = os_processes.session_members(self._children[name].pid)
                        os_processes.send_signal(members, signal.SIGKILL)
                case PrintLine(text):
                    self._print_line(text)
                case AnnounceReady():
                    self._file.ready = True
                    self._file.save(self._data)
                    self._terminal.plain(self._on_ready())  # contains a password: not for the logs

    async def _run_process(self, name: str) -> None:
        """Run a process once, until it and all its children have ended."""
        program = self._programs[name]
        since_ms = now_ms()
        output, write_end = os.pipe()
        try:
            child = await self._start(name, program, write_end)
        except OSError as error:
            os.close(output)
            self._print_line(f"{name} cannot be started: {error}")
            self._perform(self._stack.exited(name, NOT_STARTED, _now_ms()))
            return
        finally:
            os.close(write_end)
        self._record_start(name, child)
        probing = asyncio.create_task(self._probe(name, program.role.probe, since_ms))
        reading = asyncio.create_task(self._read(name, output, program.role.probe))
        watching = asyncio.create_task(self._watch_memory(name, program.role, child.pid))
        status = await child.wait()
        probing.cancel()
        watching.cancel()
        os_processes.send_signal(os_processes.session_members(child.pid), signal.SIGKILL)
        await asyncio.wait({reading}, timeout=DRAIN_S)  # a grandchild may hold the pipe open
        reading.cancel()
        self._record_exit(name, child)
        self._perform(self._stack.exited(name, status, _now_ms()))

    async def _start(self, name: str, program: Program, output: int) -> Child:
        """Start a process with its output at `output`. With asyncio's own pipe, `wait` would not
        return while a grandchild holds the pipe open. Raises OSError."""
        if FORK_SERVER in program.role.after:
            return await self._fork_client.start(program.command, output)
        with self._fork_client.open() if name == FORK_SERVER else open(os.devnull) as stdin:
            return await asyncio.create_subprocess_exec(
                *program.command,
                stdin=stdin.fileno(),
                stdout=output,
                stderr=output,
                env=self._environment,
                start_new_session=True,
            )

    def _record_start(self, name: str, child: Child) -> None:
        self._children[name] = child
        stage = self._programs[name].role.stage
        self._leaders[child.pid] = stage
        self._send_to_guard(f"+{child.pid} {stage}\n")
        started = os_processes.start_time(child.pid) or 0.0
        self._file.processes[name] = {"pid": child.pid, "started": started, "stage": stage}
        self._file.save(self._data)
        if self._stack.processes[name].state is State.STOPPING:
            # A stop was requested while it started.
            os_processes.send_signal([child.pid], signal.SIGTERM)

    def _record_exit(self, name: str, child: Child) -> None:
        del self._children[name]
        self._leaders.pop(child.pid, None)
        self._send_to_guard(f"-{child.pid}\n")
        del self._file.processes[name]
        self._file.save(self._data)

    async def _read(self, name: str, output: int, probe: Probe) -> None:
        """Copy the process's output to terminal and log; look for its readiness line."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb", 0)
        )
        splitter = LineSplitter()
        try:
            while data := await reader.read(READ_BYTES):
                for line in splitter.feed(data):
                    self._line(name, line)
                    if probe.kind is ProbeKind.LINE and probe.target in line:
                        self._perform(self._stack.answered(name, _now_ms()))
            for line in splitter.end():
                self._line(name, line)
        finally:
            transport.close()

    async def _probe(self, name: str, probe: Probe, since_ms: int) -> None:
        if probe.kind in (ProbeKind.LINE, ProbeKind.EXIT):
            return
        target = string.Template(probe.target).substitute(self._variables)
        probe = replace(probe, target=target)
        while not await self._prober.is_ready(probe, since_ms):
            await asyncio.sleep(PROBE_EVERY_S)
        self._perform(self._stack.answered(name, _now_ms()))

    async def _watch_memory(self, name: str, role: Role, pid: int) -> None:
        """Restart the process when it is large and idle (idle_memory.py)."""
        if role.memory_max_mb is None:
            return
        port = int(string.Template(role.probe.target).substitute(self._variables))
        idle = idle_memory.IdleTime()
        while True:
            await asyncio.sleep(idle_memory.CHECK_EVERY_S)
            try:
                megabytes = idle_memory.resident_bytes(pid) >> 20
                is_idle = idle.is_over(_now_ms(), idle_memory.has_clients(pid, port))
            except psutil.Error:  # it ended, or the system does not tell
                continue
            if is_idle and megabytes > role.memory_max_mb:
                self._perform(self._stack.restart(name, f"is idle and has {megabytes} MB"))

    async def _restart_guard(self) -> None:
        """Restart the guard if it ends while the stack runs."""
        while (guard := self._guard) is not None:
            await guard.wait()
            if self._guard is not None:
                self._print_line("the guard ended; starting a new one")
                await asyncio.sleep(INTERVAL_S)
                await self._start_guard()

    async def _start_guard(self) -> None:
        self._guard = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "stack.guard",
            self._stack_id,
            stdin=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": self._variables.get("PYTHONPATH", "")},
            start_new_session=True,
        )
        for leader, stage in self._leaders.items():
            self._send_to_guard(f"+{leader} {stage}\n")

    def _send_to_guard(self, line: str) -> None:
        guard = self._guard
        if guard is not None and guard.stdin is not None and not guard.stdin.is_closing():
            guard.stdin.write(line.encode())

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _line(self, name: str, text: str) -> None:
        self._terminal.line(name, text)
        self._logs[name].write(text)

    def _print_line(self, text: str) -> None:
        self._line(OWN_NAME, text)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
