"""Disks that stall or fail when a test says so, under the process of a real broker.

Python reads `sitecustomize` from PYTHONPATH before all else: there the calls that sync and send
files look for a file that says for which paths they stall or fail.
"""

from pathlib import Path

import pytest

_CUSTOMIZE = """
import errno, os, time

sync, sendfile = os.fdatasync, os.sendfile

def is_hit(fault, fd):
    try:
        with open(f"{FAULTS}/{fault}") as file:
            return os.readlink(f"/proc/self/fd/{fd}").startswith(file.read())
    except FileNotFoundError:
        return False

def faulty_sync(fd):
    while is_hit("stall", fd):
        time.sleep(0.01)
    if is_hit("sync", fd):
        raise OSError(errno.EIO, "Input/output error")
    sync(fd)

def faulty_sendfile(out, fd, *rest):
    if is_hit("send", fd):
        raise OSError(errno.EIO, "Input/output error")
    return sendfile(out, fd, *rest)

os.fdatasync, os.sendfile = faulty_sync, faulty_sendfile
"""


class FaultyDisk:
    """For the processes started while `patch` holds. `stall` and `fail` with a directory, of which
    every file is meant."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        directory.mkdir()
        self._directory = directory
        customize = _CUSTOMIZE.replace("{FAULTS}", str(directory))
        (directory / "sitecustomize.py").write_text(customize)
        patch.setenv("PYTHONPATH", str(directory), prepend=":")

    def stall(self, path: Path) -> None:
        """Syncs take until `mend`."""
        self._set("stall", path)

    def fail_syncs(self, path: Path) -> None:
        self._set("sync", path)

    def fail_sends(self, path: Path) -> None:
        """What is sent from files to sockets cannot be read."""
        self._set("send", path)

    def _set(self, fault: str, path: Path) -> None:
        written = self._directory / "written"
        written.write_text(f"{path}/")
        written.rename(self._directory / fault)

    def mend(self) -> None:
        """Nothing stalls or fails any more."""
        for fault in ("stall", "sync", "send"):
            (self._directory / fault).unlink(missing_ok=True)
