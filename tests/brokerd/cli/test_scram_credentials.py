"""SCRAM credentials as `configs` reads, sends and shows them."""

from types import SimpleNamespace as Some

import pytest

from brokerd.cli.config_entities import Entities
from brokerd.cli.options import CliError
from brokerd.cli.scram_credentials import alter_request, are_credentials, credentials_line

USER, CLIENT = Entities(("users",), ("ada",)), Entities(("clients",), ("",))
EVERY = Entities(("users",), ("",))
SALT = bytes.fromhex("5b6d99689d12358eeca04b141236fa81")


def test_what_is_sent_is_made_of_the_password_as_rfc_7677_makes_it() -> None:
    """The password, salt and count of the example in RFC 7677; the broker never sees the first."""
    request = alter_request("user", {"SCRAM-SHA-256": "iterations=4096,password=pencil"}, [], SALT)
    (sent,) = request["upsertions"]
    assert sent["salted_password"].hex() == (
        "c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d"
    )
    assert (sent["name"], sent["mechanism"], sent["iterations"]) == ("user", 1, 4096)
    assert request["deletions"] == []


@pytest.mark.parametrize("text", ["password=pencil", "iterations=-1,password=pencil"])
def test_where_no_iterations_are_given_they_are_the_least(text: str) -> None:
    (sent,) = alter_request("user", {"SCRAM-SHA-512": text}, [], SALT)["upsertions"]
    assert (sent["mechanism"], sent["iterations"], len(sent["salted_password"])) == (2, 4096, 64)


def test_credentials_are_deleted_by_their_mechanism() -> None:
    request = alter_request("user", {}, ["SCRAM-SHA-512", "SCRAM-SHA-256"], SALT)
    assert request["deletions"] == [
        {"name": "user", "mechanism": 2},
        {"name": "user", "mechanism": 1},
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pencil", "Invalid credential property SCRAM-SHA-256=pencil"),
        ("iterations=,password=x", "Invalid credential property"),
        ("iterations=-,password=x", "Invalid credential property"),
        ("iterations=4095,password=x", "Iterations 4095 is not between 4096 and 16384"),
        ("iterations=16385,password=x", "Iterations 16385 is not between 4096"),
    ],
)
def test_what_is_no_credential_is_said(text: str, said: str) -> None:
    with pytest.raises(CliError) as refused:
        alter_request("user", {"SCRAM-SHA-256": text}, [], SALT)
    assert str(refused.value).startswith(said)


def test_a_line_names_the_user_and_his_mechanisms() -> None:
    held = [Some(mechanism=1, iterations=8192), Some(mechanism=2, iterations=4096)]
    assert credentials_line(Some(user="ada", credential_infos=held)) == (
        "SCRAM credential configs for user-principal 'ada' are SCRAM-SHA-256=iterations=8192,"
        " SCRAM-SHA-512=iterations=4096"
    )


@pytest.mark.parametrize(
    ("entities", "names", "said"),
    [
        (CLIENT, ["SCRAM-SHA-256"], "SCRAM credentials are those of one user"),
        (EVERY, ["SCRAM-SHA-256"], "SCRAM credentials are those of one user"),
        (USER, ["SCRAM-SHA-256", "request_percentage"], "Cannot alter both quota and SCRAM"),
    ],
)
def test_credentials_stand_alone(entities: Entities, names: list[str], said: str) -> None:
    with pytest.raises(CliError, match=said):
        are_credentials(entities, names)
    assert are_credentials(USER, names[:1])
    assert not are_credentials(entities, ["request_percentage"])
