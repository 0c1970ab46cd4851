"""From settings to a running stack: what `manage.py up` does, in order."""

import asyncio
import os
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from django.db import DatabaseError, connection

from console import ports
from monitoring.secrets import why_no_key
from monitoring.seed import EMBEDDED_SLUG
from stack import data_folder_lock, procfile, sessions
from stack.config import StackConfig
from stack.external_services import Service, wait_for
from stack.plan import roles_for
from stack.preparation import (
    NotReady,
    Prepared,
    make_folder,
    make_history_folder,
    prepare,
)
from stack.probes import Prober
from stack.supervisor import Program, Supervisor

LEFTOVER_GRACE_S = 5.0


def up(config: StackConfig, without: Collection[str], outside: Iterable[Service]) -> None:
    """Run the stack until a signal stops it; raises NotReady or data_folder_lock.AlreadyRunning.

    `outside`: the services that settings name instead of embedded ones.
    """
    commands = procfile.parse((config.root / "Procfile").read_text())
    _check_names(commands, without)
    names = [name for name in commands if name not in config.replaced.union(without)]
    with data_folder_lock.held(config.data):
        end_leftovers(config.data)
        _refuse_if(ports.taken(config.ports(set(names))))
        _refuse_if(wait_for(outside, say))
        _refuse_if(_lost_key())
        prepared = prepare(config, os.environ, set(names))
        programs = _programs({name: commands[name] for name in names}, prepared)
        supervisor = Supervisor(
            programs,
            prepared.variables | {"AERIE_PROCESSES": ",".join(names)},
            config.data,
            Prober(prepared.redis_url, EMBEDDED_SLUG),
            config.url,
            on_ready=lambda: ready_line(config),
        )
        asyncio.run(supervisor.run())


def _lost_key() -> list[str]:
    """Preparation makes a key where there is none: not where secrets wait for the one they had."""
    try:
        return [problem] if (problem := why_no_key()) else []
    except DatabaseError as error:
        reason = (str(error).splitlines() or ["it does not say why"])[0]
        return [f"AERIE_SECRET_KEY_FILE is missing, and the database cannot be asked: {reason}"]
    finally:
        connection.close()


def ready_line(config: StackConfig) -> str:
    """The one line that says where to go; a password of the environment is not repeated."""
    password = "as in AERIE_ADMIN_PASSWORD"
    if not config.admin_password_is_given:
        password = config.admin_password_file.read_text().strip() or "as you set it"
    return f"Aerie is ready: {config.url}  user admin  password {password}"


def end_leftovers(data: Path) -> int:
    """End what a stack that is gone left running; the folder's lock must be held."""
    noted = data_folder_lock.load(data)
    if noted is None:
        return 0
    ended = sessions.end_stack(
        noted.stack_id, noted.leaders(), LEFTOVER_GRACE_S, stores=noted.stores()
    )
    data_folder_lock.forget(data)
    if ended:
        what = "1 process" if ended == 1 else f"{ended} processes"
        say(f"ended {what} that an earlier start had left behind")
    return ended


def say(text: str) -> None:
    """A line before the supervisor speaks."""
    print(f"aerie: {text}", flush=True)


def check(config: StackConfig, history_url: str) -> None:
    """Make the folders, and see that the settings suit this machine; raises NotReady for all."""
    checks: list[Callable[[], None]] = [
        lambda: make_folder(config.data, say),
        lambda: make_history_folder(history_url),
    ]
    problems = []
    for each in checks:
        try:
            each()
        except NotReady as error:
            problems.append(str(error))
    _refuse_if(problems)


def _refuse_if(problems: list[str]) -> None:
    if problems:
        raise NotReady("\n  ".join(["nothing was started. Correct this first:", *problems]))


def _check_names(commands: Collection[str], without: Collection[str]) -> None:
    unknown = sorted(set(without) - set(commands))
    _refuse_if([f"--without: the Procfile has no {name}" for name in unknown])


def _programs(commands: dict[str, str], prepared: Prepared) -> dict[str, Program]:
    roles = roles_for(commands)
    return {
        name: Program(procfile.expand(command, prepared.variables, sys.executable), roles[name])
        for name, command in commands.items()
    }
