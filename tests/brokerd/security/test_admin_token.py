"""The admin port's token file."""

import errno
import os
import secrets
from pathlib import Path

import pytest

from brokerd.security.admin_token import TokenError, is_authorized, load_or_create


def test_a_missing_file_is_made_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = load_or_create(path)
    assert len(token) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_create(path) == token


def test_a_crash_while_it_is_made_leaves_no_file_that_is_refused_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"

    def crash(count: int) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as crashing:
        crashing.setattr(secrets, "token_urlsafe", crash)
        with pytest.raises(KeyboardInterrupt):
            load_or_create(path)
    assert len(load_or_create(path)) >= 32
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_made_where_files_have_one_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "token"
    token = load_or_create(path)
    assert load_or_create(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_token_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("short\n")
    with pytest.raises(TokenError, match="shorter"):
        load_or_create(path)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(TokenError, match="cannot write"):
        load_or_create(tmp_path / "no" / "such" / "token")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Bearer secret", True),
        ("bearer secret", True),
        ("Basic secret", False),
        ("Bearer Secret", False),
        ("Bearer é", False),
        ("", False),
        (None, False),
    ],
)
def test_only_the_right_bearer_token_is_let_in(header: str | None, expected: bool) -> None:
    assert is_authorized(header, "secret") is expected
