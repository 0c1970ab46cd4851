from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model

from monitoring.models import Cluster
from stack.config import StackConfig
from stack.seeding import seed

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., StackConfig]:
    """Seed as a start of the stack does; returns the configuration."""
    config = replace(
        StackConfig.from_settings(settings),
        admin_token_file=tmp_path / "token",
        admin_password_file=tmp_path / "password",
    )
    config.admin_token_file.write_text("the token\n")
    config.admin_password_file.write_text("as generated\n")

    def run(given_password: str = "") -> StackConfig:
        list(seed(config, given_password))
        return config

    return run


def has_password(password: str) -> bool:
    return bool(get_user_model().objects.get(username="admin").check_password(password))


def test_the_first_start_makes_the_admin_with_the_generated_password(
    start: Callable[..., StackConfig],
) -> None:
    start()
    start()
    assert has_password("as generated")
    assert get_user_model().objects.count() == 1


def test_a_password_changed_in_the_console_is_kept(
    start: Callable[..., StackConfig],
) -> None:
    start()
    admin = get_user_model().objects.get(username="admin")
    admin.set_password("my own")
    admin.save()
    config = start()
    assert has_password("my own")
    assert config.admin_password_file.read_text() == ""


def test_a_password_of_the_environment_is_set_at_each_start(
    start: Callable[..., StackConfig],
) -> None:
    start()
    config = start("from services")
    assert has_password("from services")
    assert config.admin_password_file.read_text() == ""  # the old password is no longer valid


def test_a_removed_admin_gets_a_new_password(start: Callable[..., StackConfig]) -> None:
    config = start()
    get_user_model().objects.all().delete()
    config.admin_password_file.write_text("")
    start()
    assert has_password(config.admin_password_file.read_text().strip())


def test_the_local_cluster_has_an_encrypted_admin_token(
    start: Callable[..., StackConfig],
) -> None:
    config = start()
    start()
    cluster = Cluster.objects.get()
    assert cluster.slug == "local"
    assert cluster.bootstrap_servers == config.bootstrap_servers
    assert "the token" not in cluster.admin_token
