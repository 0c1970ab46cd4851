"""The steps of `manage.py up`, from the checks to the running supervisor."""

import asyncio
import os
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from django.db import DatabaseError, connection

from console import stack_ports
from monitoring.clusters.embedded_cluster import EMBEDDED_SLUG
from monitoring.encryption import missing_key_problem
from stack import data_folder_lock, os_processes, procfile_parser
from stack.config import StackConfig
from stack.external_services import Service, wait_for
from stack.preparation import (
    NotReady,
    Prepared,
    make_folder,
    make_history_folder,
    prepare,
)
from stack.probes import Prober
from stack.process_table import roles_for
from stack.supervisor import Program, Supervisor

LEFTOVER_GRACE_S = 5.0


def up(config: StackConfig, without: Collection[str], services: Iterable[Service]) -> None:
    """Run the stack until a signal stops it. Raises NotReady or data_folder_lock.AlreadyRunning.

    `without`: names of the Procfile to leave out; `services`: the external services that must
    answer first.
    """
    commands = procfile_parser.parse((config.root / "Procfile").read_text())
    _check_names(commands, without)
    names = [name for name in commands if name not in config.external.union(without)]
    with data_folder_lock.acquire(config.data):
        end_leftovers(config.data)
        _refuse_if(stack_ports.unavailable(config.ports(set(names))))
        _refuse_if(wait_for(services, print_line))
        _refuse_if(_lost_key_problem())
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


def _lost_key_problem() -> list[str]:
    """The problem if the key is missing although secrets are stored: then no new key is made."""
    try:
        return [problem] if (problem := missing_key_problem()) else []
    except DatabaseError as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        return [f"AERIE_SECRET_KEY_FILE is missing, and the database cannot be read: {reason}"]
    finally:
        connection.close()


def ready_line(config: StackConfig) -> str:
    """The line with URL, user and password. A password set in the environment is not printed."""
    password = "as in AERIE_ADMIN_PASSWORD"
    if not config.admin_password_is_given:
        password = config.admin_password_file.read_text().strip() or "as you set it"
    return f"Aerie is ready: {config.url}  user admin  password {password}"


def end_leftovers(data: Path) -> int:
    """End processes that an earlier stack left running. The caller must hold the folder's lock."""
    stack_file = data_folder_lock.load_stack_file(data)
    if stack_file is None:
        return 0
    ended = os_processes.end_stack(
        stack_file.stack_id, stack_file.leaders(), LEFTOVER_GRACE_S, stores=stack_file.stores()
    )
    data_folder_lock.remove_stack_file(data)
    if ended:
        count = "1 process" if ended == 1 else f"{ended} processes"
        print_line(f"ended {count} that an earlier start had left running")
    return ended


def print_line(text: str) -> None:
    """Print a line, before the supervisor writes to the terminal."""
    print(f"aerie: {text}", flush=True)


def make_folders(config: StackConfig, history_url: str) -> None:
    """Create the folders of data and history. Raises one NotReady with all problems."""
    steps: list[Callable[[], None]] = [
        lambda: make_folder(config.data, print_line),
        lambda: make_history_folder(history_url),
    ]
    problems = []
    for make in steps:
        try:
            make()
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
        name: Program(
            procfile_parser.expand(command, prepared.variables, sys.executable), roles[name]
        )
        for name, command in commands.items()
    }
