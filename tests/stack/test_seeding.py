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
    """One start of the stack: seeds, and gives the configuration it did so with."""
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


def test_a_password_changed_in_the_console_is_never_set_back(
    start: Callable[..., StackConfig],
) -> None:
    start()
    admin = get_user_model().objects.get(username="admin")
    admin.set_password("my own")
    admin.save()
    config = start()
    assert has_password("my own")
    assert config.admin_password_file.read_text() == ""


def test_a_password_of_the_environment_holds_at_each_start(
    start: Callable[..., StackConfig],
) -> None:
    start()
    config = start("from outside")
    assert has_password("from outside")
    assert config.admin_password_file.read_text() == ""  # what it held is nobody's any more


def test_a_removed_admin_gets_a_new_password(start: Callable[..., StackConfig]) -> None:
    config = start()
    get_user_model().objects.all().delete()
    config.admin_password_file.write_text("")
    start()
    assert has_password(config.admin_password_file.read_text().strip())


def test_the_local_cluster_is_known_with_its_sealed_token(
    start: Callable[..., StackConfig],
) -> None:
    config = start()
    start()
    cluster = Cluster.objects.get()
    assert cluster.slug == "local"
    assert cluster.bootstrap_servers == config.bootstrap_servers
    assert "the token" not in cluster.admin_token
