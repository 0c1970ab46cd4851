import os
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from brokerd.config.broker_config import parse
from monitoring import secret_files
from stack import preparation
from stack.config import StackConfig
from stack.preparation import NotReady, make_folder, prepare

ALL = {"zookeeper", "redis", "broker-1", "web", "spark"}


@pytest.fixture
def config(tmp_path: Path) -> StackConfig:
    data = tmp_path / "data"
    make_folder(data, print)
    return replace(
        StackConfig.from_settings(settings),
        data=data,
        external_redis_url="",
        secret_key_file=data / "secret.key",
        redis_password_file=data / "redis.password",
        admin_token_file=data / "admin.token",
        admin_password_file=data / "admin.password",
        admin_password_is_given=False,
    )


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_secrets_are_made_once_in_private_files(config: StackConfig) -> None:
    prepare(config, os.environ, ALL)
    files = (
        config.secret_key_file,
        config.redis_password_file,
        config.admin_token_file,
        config.admin_password_file,
    )
    first = [file.read_text() for file in files]
    prepare(config, os.environ, ALL)
    assert [file.read_text() for file in files] == first
    assert {mode(file) for file in files} == {0o600}
    assert mode(config.data) == 0o700
    assert len(set(first)) == len(first)


def test_an_aerie_folder_that_others_can_access_is_made_private_with_a_message(
    tmp_path: Path,
) -> None:
    data, printed = tmp_path / "data", list[str]()
    data.mkdir()
    data.chmod(0o755)
    (data / "stack.lock").touch()
    (data / "spark").mkdir(0o755)
    database, elsewhere = data / "db.sqlite3", tmp_path / "elsewhere"
    for path in (database, elsewhere, data / "spark" / "server.properties"):
        path.touch()
        path.chmod(0o644)
    (data / "link").symlink_to(elsewhere)
    make_folder(data, printed.append)
    assert mode(data) == mode(data / "spark") == 0o700
    assert mode(database) == mode(data / "spark" / "server.properties") == 0o600
    assert mode(elsewhere) == 0o644
    assert printed == [f"{data} was open to other users (mode 0755); it is private now (0700)"]
    make_folder(data, printed.append)
    assert len(printed) == 1


def test_an_empty_folder_that_others_can_access_is_made_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    make_folder(tmp_path, print)
    assert mode(tmp_path) == 0o700


def test_a_folder_that_is_not_aeries_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(NotReady, match=r"open to other users .* chmod 700"):
        make_folder(tmp_path, print)
    assert mode(tmp_path) == 0o755


def test_a_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(NotReady, match="belongs to another user"):
        make_folder(tmp_path, print)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A data folder in which anyone could write."""
    data = tmp_path / "data"
    (data / "redis").mkdir(parents=True)
    for name in ("secret.key", "stack.lock"):
        (data / name).touch()
    data.chmod(0o777)
    return data


@as_root
@pytest.mark.parametrize("name", ["secret.key", "redis", "redis/redis.conf", "history/a/b/c"])
def test_a_file_of_another_user_in_an_open_folder_is_refused(open_folder: Path, name: str) -> None:
    planted = open_folder / name
    planted.parent.mkdir(parents=True, exist_ok=True)
    if not planted.exists():
        planted.touch()
    os.chown(planted, 12345, 12345)
    for _ in range(2):  # the second start knows as much as the first
        with pytest.raises(NotReady, match=f"{planted}' belongs to another user .*12345.* Remove"):
            make_folder(open_folder, print)
    assert mode(open_folder) == 0o777
    planted.rename(open_folder.parent / "removed")
    make_folder(open_folder, print)
    assert mode(open_folder) == 0o700


@as_root
def test_a_file_of_another_user_in_a_private_folder_is_refused(open_folder: Path) -> None:
    open_folder.chmod(0o700)
    os.chown(open_folder / "secret.key", 12345, 12345)
    with pytest.raises(NotReady, match=r"secret\.key' belongs to another user"):
        make_folder(open_folder, print)


def test_files_that_seem_to_be_of_another_user_are_refused(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lstat(path: Path) -> os.stat_result:
        return os.stat_result([*os.lstat(path)[:4], 12345, *os.lstat(path)[5:]])

    monkeypatch.setattr(Path, "lstat", lstat)
    for permissions in (0o777, 0o755, 0o700):
        open_folder.chmod(permissions)
        with pytest.raises(NotReady, match="redis' belongs to another user"):
            make_folder(open_folder, print)
        assert mode(open_folder) == permissions


@pytest.mark.parametrize("folder", ["", "redis"])
def test_a_link_in_a_folder_that_others_could_write_is_refused(
    open_folder: Path, folder: str
) -> None:
    elsewhere = open_folder.parent / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    link = open_folder / folder / "history"
    link.symlink_to(elsewhere)
    if folder:
        open_folder.chmod(0o755)
        (open_folder / folder).chmod(0o777)
    for _ in range(2):
        with pytest.raises(NotReady, match=f"{link}' is a link, .* Remove it"):
            make_folder(open_folder, print)
    assert mode(elsewhere) == 0o755
    link.unlink()
    make_folder(open_folder, print)


def test_links_in_a_private_folder_are_kept(open_folder: Path) -> None:
    open_folder.chmod(0o700)
    elsewhere = open_folder.parent / "elsewhere"
    elsewhere.mkdir()
    (open_folder / "history").symlink_to(elsewhere)
    (open_folder.parent / "link").symlink_to(open_folder)
    make_folder(open_folder.parent / "link", print)
    assert (open_folder / "history").is_symlink()


def test_an_empty_password_file_stays_empty(config: StackConfig) -> None:
    prepare(config, os.environ, ALL)
    config.admin_password_file.write_text("")  # the admin has changed the password
    prepare(config, os.environ, ALL)
    assert config.admin_password_file.read_text() == ""


def test_an_empty_redis_password_file_is_filled(config: StackConfig) -> None:
    config.redis_password_file.touch()
    assert ":@" not in prepare(config, os.environ, ALL).redis_url
    assert config.redis_password_file.read_text().strip()


def test_a_password_from_the_environment_is_not_written_to_a_file(config: StackConfig) -> None:
    prepare(replace(config, admin_password_is_given=True), os.environ, ALL)
    assert not config.admin_password_file.exists()


def test_the_redis_password_is_in_no_command_line(config: StackConfig) -> None:
    prepared = prepare(config, os.environ, ALL)
    password = config.redis_password_file.read_text().strip()
    assert password in prepared.redis_url
    assert password not in " ".join(prepared.variables.values())
    assert mode(config.data / "redis" / "redis.conf") == 0o600


def test_brokerd_accepts_the_properties_written_for_it(config: StackConfig) -> None:
    prepare(config, os.environ, ALL)
    text = (config.data / "brokerd-2" / "server.properties").read_text()
    parsed = parse(text, {})
    assert parsed.warnings == ()
    assert parsed.raw["broker.id"] == "2"
    assert parsed.listeners[0].port == config.broker_ports[1]


def test_the_error_without_java_says_what_to_do(
    config: StackConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation.java, "java_home", lambda *_: None)
    with pytest.raises(NotReady, match="No Java 17 or newer"):
        prepare(config, os.environ, ALL)


def test_the_error_without_redis_says_what_to_do(
    config: StackConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation.redis, "server_path", lambda: None)
    with pytest.raises(NotReady, match="apt install redis-server"):
        prepare(config, os.environ, ALL)


def test_external_services_are_neither_looked_for_nor_started(
    config: StackConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation.java, "java_home", lambda *_: None)
    services = replace(
        config,
        external_redis_url="redis://elsewhere:6379/0",
        embedded_zookeeper=False,
        embedded_spark=False,
    )
    assert services.external == {"zookeeper", "redis", "spark"}
    prepared = prepare(services, os.environ, ALL - services.external)
    assert prepared.redis_url == "redis://elsewhere:6379/0"
    assert [port.setting for port in services.ports({"web"})] == ["AERIE_PORT"]


def test_a_password_has_no_ambiguous_characters() -> None:
    password = secret_files.new_password()
    assert len(password) == 19
    assert not set(password) & set("il1o0")


@pytest.mark.parametrize(
    ("is_behind_proxy", "flag"), [(False, "--no-proxy-headers"), (True, "--proxy-headers")]
)
def test_proxy_headers_are_trusted_only_behind_a_proxy(
    config: StackConfig, is_behind_proxy: bool, flag: str
) -> None:
    prepared = prepare(replace(config, is_behind_proxy=is_behind_proxy), os.environ, ALL)
    assert prepared.variables["PROXY_HEADERS"] == flag
