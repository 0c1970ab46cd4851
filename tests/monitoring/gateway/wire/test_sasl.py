"""SCRAM with the example of RFC 7677, and brokers that do not know the password."""

import pytest

from monitoring.clusters.kafka_client_settings import AccessToken, Sasl
from monitoring.gateway.wire.sasl import ServerNotTrusted, login

# RFC 7677, section 3
USER, PASSWORD, NONCE = "user", "pencil", "rOprNGfwEbeRWgbNEkqO"
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def scram(mechanism="SCRAM-SHA-256"):
    return login(Sasl(mechanism, USER, PASSWORD), None, NONCE)


def test_the_messages_of_scram_are_those_of_the_standard():
    messages = scram()
    assert next(messages) == CLIENT_FIRST
    assert messages.send(SERVER_FIRST) == CLIENT_FINAL
    with pytest.raises(StopIteration):
        messages.send(SERVER_FINAL)


@pytest.mark.parametrize(
    "final", [b"v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", b"e=invalid-proof", b""]
)
def test_a_broker_that_does_not_know_the_password_is_not_trusted(final):
    messages = scram()
    next(messages)
    messages.send(SERVER_FIRST)
    with pytest.raises(ServerNotTrusted, match="signature"):
        messages.send(final)


@pytest.mark.parametrize(
    "first",
    [
        b"r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        SERVER_FIRST.replace(b"i=4096", b"i=2000000000"),
        SERVER_FIRST.replace(b"i=4096", b"i=0"),
        SERVER_FIRST.replace(b"s=", b"x="),
        b"\xff\xfe",
    ],
    ids=["another nonce", "only our nonce", "hours of work", "no work", "no salt", "no text"],
)
def test_an_invalid_first_message_is_refused(first):
    messages = scram("SCRAM-SHA-512")
    next(messages)
    with pytest.raises(ServerNotTrusted):
        messages.send(first)


def test_commas_and_equals_signs_of_a_user_name_are_escaped():
    assert next(login(Sasl("SCRAM-SHA-256", "a,b=c", "x"), None, "n")) == b"n,,n=a=2Cb=3Dc,r=n"


def test_plain_sends_name_and_password_in_one_message():
    messages = login(Sasl("PLAIN", "ann", "sécret"), None, NONCE)
    assert next(messages) == "\0ann\0sécret".encode()
    with pytest.raises(StopIteration):
        messages.send(b"")


def test_oauthbearer_sends_the_token_and_acknowledges_a_refusal():
    messages = login(Sasl("OAUTHBEARER", "ann"), AccessToken("t0ken", 0), NONCE)
    assert next(messages) == b"n,,\1auth=Bearer t0ken\1\1"
    assert messages.send(b'{"status":"invalid_token"}') == b"\1"


def test_a_secret_is_not_in_the_text_of_the_settings():
    assert "pencil" not in repr(Sasl("PLAIN", USER, PASSWORD))
    assert "t0ken" not in repr(AccessToken("t0ken", 0))
