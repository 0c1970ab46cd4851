"""From settings to a running stack: what `manage.py up` does, in order."""

import asyncio
import os
import sys
from collections.abc import Collection
from pathlib import Path

from console.stack import lock, ports, procfile, sessions
from console.stack.config import CLUSTER, StackConfig
from console.stack.plan import roles_for
from console.stack.preparation import NotReady, Prepared, make_folder, prepare
from console.stack.probes import Asker
from console.stack.supervisor import Program, Supervisor

LEFTOVER_GRACE_S = 5.0


def up(config: StackConfig, without: Collection[str]) -> None:
    """Run the stack until a signal stops it; raises NotReady or lock.AlreadyRunning."""
    commands = procfile.parse((config.root / "Procfile").read_text())
    names = [name for name in commands if name not in config.replaced.union(without)]
    make_folder(config.data)
    with lock.held(config.data):
        end_leftovers(config.data)
        _check_ports(config.ports(set(names)))
        prepared = prepare(config, os.environ, set(names))
        programs = _programs({name: commands[name] for name in names}, prepared)
        supervisor = Supervisor(
            programs,
            prepared.variables,
            config.data,
            Asker(prepared.redis_url, CLUSTER),
            config.url,
            on_ready=lambda: ready_line(config),
        )
        asyncio.run(supervisor.run())


def ready_line(config: StackConfig) -> str:
    """The one line that says where to go; a password of the environment is not repeated."""
    password = "as in AERIE_ADMIN_PASSWORD"
    if not config.admin_password_is_given:
        password = config.admin_password_file.read_text().strip() or "as you set it"
    return f"Aerie is ready: {config.url}  user admin  password {password}"


def end_leftovers(data: Path) -> int:
    """End what a stack that is gone left running; the folder's lock must be held."""
    noted = lock.load(data)
    if noted is None:
        return 0
    ended = sessions.end_stack(noted.stack_id, noted.leaders(), LEFTOVER_GRACE_S)
    lock.forget(data)
    if ended:
        print(f"Ended {ended} processes that an earlier start had left behind", flush=True)
    return ended


def _check_ports(wanted: list[ports.Port]) -> None:
    problems = ports.clashes(wanted) or ports.taken(wanted)
    if problems:
        raise NotReady("\n".join(problems))


def _programs(commands: dict[str, str], prepared: Prepared) -> dict[str, Program]:
    roles = roles_for(commands)
    return {
        name: Program(procfile.expand(command, prepared.variables, sys.executable), roles[name])
        for name, command in commands.items()
    }
