"""Stops a stack (`manage.py down`) and deletes its data (`manage.py reset`)."""

import os
import shutil
import signal
import time
from pathlib import Path

from stack import data_folder_lock, os_processes
from stack.launch import end_leftovers

STOP_S = 15.0
_POLL_S = 0.1
_LOCK_NAME = "stack.lock"


class Refused(Exception):
    """The command was refused; the text says why and what to do."""


def down(data: Path) -> str:
    """Stop the stack of this folder and its leftover processes; returns a line for the user."""
    if not (data / _LOCK_NAME).exists():
        return f"Nothing to stop: no stack has run on {data}"
    stack_file = data_folder_lock.load_stack_file(data)
    is_stopped = False
    # After SIGKILL the guard ends the processes, and `_end_leftovers_when_free` the rest.
    for number in (signal.SIGTERM, signal.SIGKILL):
        is_stopped = _signal_supervisor(stack_file, number) or is_stopped
        ended = _end_leftovers_when_free(data)
        if ended is not None:
            return "Stopped" if is_stopped or ended else "Nothing was running"
    holder = f"process {stack_file.pid}" if stack_file is not None else "an unknown process"
    raise Refused(f"{data} is locked by {holder}, which could not be stopped")


def _signal_supervisor(
    stack_file: data_folder_lock.StackFile | None, number: signal.Signals
) -> bool:
    """Signal the supervisor, unless its process id was reused."""
    if stack_file is None or os_processes.start_time(stack_file.pid) != stack_file.started:
        return False
    os_processes.send_signal([stack_file.pid], number)
    return True


def _end_leftovers_when_free(data: Path) -> int | None:
    """Wait for the lock and end leftover processes; None if the lock is not released in time."""
    deadline = time.monotonic() + STOP_S
    while time.monotonic() < deadline:
        try:
            with data_folder_lock.acquire(data):
                return end_leftovers(data)
        except data_folder_lock.AlreadyRunning:
            time.sleep(_POLL_S)
    return None


def reset(data: Path) -> str:
    """Empty the data folder; refuses while a stack runs, or if it is not a folder of Aerie."""
    if not data.exists() or not any(data.iterdir()):
        return f"{data} is empty"
    if not (data / _LOCK_NAME).exists():
        raise Refused(
            f"{data} is not a data folder of Aerie (no {_LOCK_NAME}); nothing was deleted"
        )
    try:
        with data_folder_lock.acquire(data):
            _refuse_if_leftovers(data)
            for entry in data.iterdir():
                if entry.name != _LOCK_NAME:
                    _remove(entry)
    except data_folder_lock.AlreadyRunning as error:
        raise Refused(f"{error}: stop it first (make down)") from None
    return f"Emptied {data}"


def _refuse_if_leftovers(data: Path) -> None:
    stack_file = data_folder_lock.load_stack_file(data)
    if stack_file is not None and os_processes.stack_members(
        stack_file.stack_id, stack_file.leaders()
    ):
        raise Refused(f"Processes of an earlier start still use {data}: run make down first")


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        os.unlink(entry)
