"""A start when the key is lost with which stored secrets were encrypted."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from django.core.management import call_command

from console import static_files
from monitoring.encryption import SecretUnreadable, encrypt
from monitoring.models import Cluster
from stack import procfile_parser
from stack.config import StackConfig
from stack.launch import up
from stack.preparation import NotReady, make_folder

pytestmark = pytest.mark.django_db


@pytest.fixture
def lost(tmp_path: Path, settings) -> Path:
    """The path of the lost key; a cluster's token is encrypted with it."""
    settings.AERIE_SECRET_KEY_FILE = tmp_path / "secret.key"
    Cluster.objects.create(
        slug="far", bootstrap_servers="127.0.0.1:1", admin_token=encrypt("t0ken")
    )
    settings.AERIE_SECRET_KEY_FILE.unlink()
    return tmp_path / "secret.key"


def test_without_the_key_the_stack_does_not_start_and_the_error_says_what_to_do(
    lost: Path, tmp_path: Path
) -> None:
    config = replace(StackConfig.from_settings(django_settings), data=tmp_path / "data")
    make_folder(config.data, print)
    everything = procfile_parser.parse((config.root / "Procfile").read_text())
    with pytest.raises(NotReady, match=re.escape(f"AERIE_SECRET_KEY_FILE={lost} is missing")):
        up(config, everything, [])
    assert not lost.exists()


def test_prepare_makes_no_new_key_while_secrets_are_stored(
    lost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_files, "collect", lambda: None)  # takes seconds
    with pytest.raises(SystemExit, match="Restore the file"):
        call_command("prepare")
    assert not lost.exists()
    assert not get_user_model().objects.exists()


def test_newkey_makes_a_key_and_never_overwrites_one(lost: Path, capsys) -> None:
    call_command("newkey")
    assert "Enter again" in capsys.readouterr().out
    made = lost.read_text()
    Fernet(made.strip())
    with pytest.raises(SecretUnreadable):
        Cluster.objects.get().decrypt_admin_token()
    with pytest.raises(SystemExit, match="has a key"):
        call_command("newkey")
    assert lost.read_text() == made
