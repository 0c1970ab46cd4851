"""Stops a stack from outside (`manage.py down`), and empties its folder (`manage.py reset`)."""

import os
import shutil
import signal
import time
from pathlib import Path

from stack import data_folder_lock, sessions
from stack.launch import end_leftovers

STOP_S = 15.0
_POLL_S = 0.1
_LOCK_NAME = "stack.lock"


class Refused(Exception):
    """Not done; the text says why and what to do."""


def down(data: Path) -> str:
    """Stop the stack of this folder and what it left behind; returns what was done."""
    if not (data / _LOCK_NAME).exists():
        return f"Nothing to stop: no stack has run on {data}"
    noted = data_folder_lock.load(data)
    is_stopped = False
    # Killed, it leaves the processes to its guard, and what that leaves to us.
    for number in (signal.SIGTERM, signal.SIGKILL):
        is_stopped = _signal_supervisor(noted, number) or is_stopped
        ended = _end_leftovers_when_free(data)
        if ended is not None:
            return "Stopped" if is_stopped or ended else "Nothing was running"
    who = f"process {noted.pid}" if noted is not None else "a process that did not say who it is"
    raise Refused(f"{data} is held by {who}, which cannot be stopped from here")


def _signal_supervisor(noted: data_folder_lock.StackFile | None, number: signal.Signals) -> bool:
    """Signal the supervisor, if it is still the same process."""
    if noted is None or sessions.start_time(noted.pid) != noted.started:
        return False
    sessions.send([noted.pid], number)
    return True


def _end_leftovers_when_free(data: Path) -> int | None:
    """Wait for the lock and end what is left; None if the lock is not let go of in time."""
    deadline = time.monotonic() + STOP_S
    while time.monotonic() < deadline:
        try:
            with data_folder_lock.held(data):
                return end_leftovers(data)
        except data_folder_lock.AlreadyRunning:
            time.sleep(_POLL_S)
    return None


def reset(data: Path) -> str:
    """Empty the data folder; refuses while a stack runs or where the folder is not one of ours."""
    if not data.exists() or not any(data.iterdir()):
        return f"{data} is empty"
    if not (data / _LOCK_NAME).exists():
        raise Refused(f"{data} was not made by Aerie (it has no {_LOCK_NAME}): not touched")
    try:
        with data_folder_lock.held(data):
            _refuse_if_left_behind(data)
            for entry in data.iterdir():
                if entry.name != _LOCK_NAME:
                    _remove(entry)
    except data_folder_lock.AlreadyRunning as error:
        raise Refused(f"{error}: stop it first (make down)") from None
    return f"Emptied {data}"


def _refuse_if_left_behind(data: Path) -> None:
    noted = data_folder_lock.load(data)
    if noted is not None and sessions.stack_members(noted.stack_id, noted.leaders()):
        raise Refused(f"Processes of an earlier start still use {data}: run make down first")


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        os.unlink(entry)
