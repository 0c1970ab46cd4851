import os
from pathlib import Path

import pytest

from brokerd.security import jaas
from brokerd.security.jaas import Credentials, JaasError

TEXT = """
// The brokers' own.
KafkaServer { org.example.Login required username="nobody" password="none"; };
Client {
    /* password="old" */
    org.apache.zookeeper.server.auth.DigestLoginModule required
    username="broker"
    password="pa ss;word";
};
"""


def private(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_name_and_password_of_the_section_client_are_read(tmp_path: Path) -> None:
    credentials = jaas.read(private(tmp_path / "client.jaas", TEXT))
    assert credentials == Credentials("broker", "pa ss;word")
    assert "pa ss" not in repr(credentials)


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT.replace("Client", "Server"),
        TEXT.replace("DigestLoginModule", "Krb5LoginModule"),
        TEXT.replace('username="broker"', ""),
    ],
)
def test_a_file_without_them_is_refused_with_what_it_lacks(tmp_path: Path, text: str) -> None:
    with pytest.raises(JaasError, match="has no section Client with"):
        jaas.read(private(tmp_path / "client.jaas", text))


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JaasError, match="chmod 600"):
        jaas.read(private(tmp_path / "client.jaas", TEXT, 0o640))


def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(JaasError):
            jaas.read(path)
    with pytest.raises(JaasError, match="cannot be read: No such file"):
        jaas.read(tmp_path / "missing")


def test_what_is_wrong_with_a_brokers_file_is_told_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(JaasError, match=r"^brokerd\.zookeeper\.jaas\.file: .*cannot be read"):
        jaas.of_setting(str(tmp_path / "missing"))
    assert jaas.of_setting("") is None


def test_tools_find_the_file_where_kafkas_do(tmp_path: Path) -> None:
    file = private(tmp_path / "client.jaas", TEXT)
    options = f"-Xmx1g -Djava.security.auth.login.config={file} -Dother=1"
    assert jaas.of_environment({"KAFKA_OPTS": options}) == Credentials("broker", "pa ss;word")
    assert jaas.of_environment({"KAFKA_OPTS": "-Xmx1g"}) is None
    assert jaas.of_environment({}) is None
