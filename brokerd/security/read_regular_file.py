"""Small files that a setting names, read so that no path can hold up or fill the broker.

A path may lead to a pipe, a device or a file without end. So only regular files are opened, and at
most a mebibyte is read. If a client gave the path, the owner and the directory are checked, too:
files of other users, and files in which the broker keeps what clients sent, are refused.
"""

import os
import stat
from collections.abc import Sequence
from errno import EINVAL, EPERM
from pathlib import Path

SIZE_BYTES_MAX = 1 << 20
_TOO_LARGE = f"it is larger than {SIZE_BYTES_MAX >> 20} MiB"


def read_regular_file(path: str, barred_dirs: Sequence[str] | None = None) -> bytes:
    """The whole file. `barred_dirs`: if a client gave the path, directories that the file must not
    be in. Raises OSError with a `strerror` that says why it is refused."""
    if "\0" in path:
        raise OSError(EINVAL, "no path holds a NUL")
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)  # which opens no pipe and no device
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(EINVAL, "it is not a regular file")
        if status.st_size > SIZE_BYTES_MAX:
            raise OSError(EINVAL, _TOO_LARGE)
        same = f"/proc/self/fd/{handle}"
        if barred_dirs is not None:
            _check_whose(status, Path(os.readlink(same)), barred_dirs)
        number = os.open(same, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    finally:
        os.close(handle)
    return _read(number)


def _check_whose(status: os.stat_result, path: Path, barred_dirs: Sequence[str]) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise OSError(EPERM, "it belongs to another user than the broker's")
    if status.st_size == 0:  # as those of /proc say, what is in them comes from a process
        raise OSError(EINVAL, "it is empty")
    if status.st_mode & stat.S_IWOTH:
        raise OSError(EPERM, "everybody may write it")
    if any(path.is_relative_to(Path(each).resolve()) for each in barred_dirs):
        raise OSError(EPERM, "it lies in log.dirs")


def _read(number: int) -> bytes:
    data = b""
    with open(number, "rb", buffering=0) as file:
        while piece := file.read(SIZE_BYTES_MAX + 1 - len(data)):
            data += piece
            if len(data) > SIZE_BYTES_MAX:
                raise OSError(EINVAL, _TOO_LARGE)
    return data
