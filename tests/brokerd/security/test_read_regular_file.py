"""Files that settings name: what is read, and what holds nobody up."""

import os
import socket
from pathlib import Path

import pytest

from brokerd.security.read_regular_file import SIZE_BYTES_MAX, read_regular_file


def refused(path: object, barred: list[str] | None = None) -> str:
    with pytest.raises(OSError, match=r"^\[Errno ") as caught:
        read_regular_file(str(path), barred)
    assert caught.value.strerror is not None
    return caught.value.strerror


def test_a_regular_file_is_read_whole_up_to_a_mebibyte(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"x" * SIZE_BYTES_MAX)
    link.symlink_to(path)
    assert read_regular_file(str(link)) == path.read_bytes()
    with path.open("ab") as file:
        file.write(b"x")
    assert refused(path) == "it is larger than 1 MiB"


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    pipe, place = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        for path in (pipe, place, tmp_path, "/dev/zero", "/dev/null"):
            assert refused(path) == "it is not a regular file"


def test_what_is_not_there_or_cannot_be_a_path_is_said(tmp_path: Path) -> None:
    assert refused(tmp_path / "missing") == "No such file or directory"
    assert refused("/etc\0/passwd") == "no path holds a NUL"


def test_of_a_client_files_are_taken_that_only_the_broker_or_root_wrote(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    assert read_regular_file(str(path), []) == b"text"
    path.chmod(0o666)
    assert refused(path, []) == "everybody may write it"
    assert read_regular_file(str(path)) == b"text"
    assert refused("/proc/self/environ", []) == "it is empty"


def test_of_a_client_files_of_other_users_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert refused(path, []) == "it belongs to another user than the broker's"


def test_of_a_client_nothing_is_taken_from_the_logs_that_it_wrote_itself(tmp_path: Path) -> None:
    logs, link, outside = tmp_path / "logs", tmp_path / "link", tmp_path / "outside.pem"
    (logs / "t-0").mkdir(parents=True)
    segment = logs / "t-0" / "00000000000000000000.log"
    segment.write_text("-----BEGIN ")
    link.symlink_to(logs)
    outside.symlink_to(segment)
    for path in (segment, link / "t-0" / segment.name, outside):
        for barred in (logs, link):
            assert refused(path, [str(barred)]) == "it lies in log.dirs"
