"""What clients may make of listeners: no more than the properties file lets in."""

import pytest

from brokerd.config.broker_config import BrokerConfig, parse
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig
from brokerd.config.dynamic_listener_config import ADDED_MAX, reaches_further, with_listener_of
from brokerd.config.ssl_configs import SslConfigs, Store

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"
IN, OUT = "IN://127.0.0.1:9092", "OUT://0.0.0.0:9093"
TOLD = "IN://127.0.0.1:9092,OUT://broker.example:19093"
PROTOCOLS = "IN:PLAINTEXT,OUT:SSL,NEW:PLAINTEXT,TLS:SSL"
SETTINGS = f"""listeners={IN},{OUT}
advertised.listeners={TOLD}
listener.security.protocol.map={PROTOCOLS}
inter.broker.listener.name=IN
ssl.keystore.type=PEM
ssl.keystore.location=/file.pem
listener.name.out.ssl.client.auth=required
listener.name.out.ssl.truststore.type=PEM
listener.name.out.ssl.truststore.location=/ca.pem
"""
STORE = "listener.name.tls.ssl.keystore.location"
TRUST = "listener.name.out.ssl.truststore.location"


def file() -> BrokerConfig:
    return parse(FILE + SETTINGS)


def taken(own: dict[str, str]) -> tuple[BrokerConfig, str]:
    """What holds with these settings of the broker's own, and why they do not."""
    config, problems = DynamicBrokerConfig(static=file(), own=own).effective()
    return config, "".join(problems)


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        ("NEW://127.0.0.1:99", "NEW://127.0.0.1:99"), ("NEW://127.0.0.1:99", "NEW://localhost:99"),
        ("NEW://localhost:99", "NEW://127.0.0.1:99"), ("NEW://[::1]:99", "NEW://localhost:99"),
        ("NEW://10.1.2.3:99", "NEW://10.1.2.3:99"), ("NEW://0.0.0.0:99", "NEW://broker.example:99"),
        ("NEW://127.0.0.1:0", "NEW://127.0.0.1:0"),
    ],
)  # fmt: skip
def test_one_that_is_added_is_told_where_it_is(bound: str, told: str) -> None:
    own = {"listeners": f"{IN},{OUT},{bound}", "advertised.listeners": f"{TOLD},{told}"}
    config, problem = taken(own)
    assert problem == ""
    assert str(config.advertised_listeners["NEW"]) == told


@pytest.mark.parametrize(
    ("own", "words"),
    [
        *(
            ({"listeners": f"{IN},{OUT},NEW://127.0.0.1:99",
              "advertised.listeners": f"{TOLD},{told}"}, f"{told} leads clients to another host")
            for told in ("NEW://evil.example:99", "NEW://127.0.0.1:98", "NEW://192.0.2.1:99",
                         "NEW://[2001:db8::1]:99")
        ),
        ({"listeners": f"{IN},{OUT},NEW://evil.example:99"}, "has a name that no listener of the"),
        ({"listeners": f"{IN},{OUT},NEW://10.1.2.3:99",
          "advertised.listeners": f"{TOLD},NEW://localhost:99"}, "leads clients to another"),
        ({"listeners": f"{IN},OUT://127.0.0.1:9093"}, f"{OUT} is of the properties file and stays"),
        ({"listeners": f"{IN},OUT://0.0.0.0:9094"}, f"{OUT} is of the properties file and stays"),
        ({"listeners": IN, "advertised.listeners": IN}, f"{OUT} is of the properties file"),
        ({"advertised.listeners": IN}, "OUT://broker.example:19093 is of the properties file"),
        ({"advertised.listeners": f"{IN},OUT://evil.example:19093"}, "OUT://broker.example:19093"),
        ({"listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT"}, f"{OUT} is of the"),
        ({TRUST: "/mine.pem"}, "listener.name.out.ssl: who may come in stays as in the file"),
        ({"listener.name.out.ssl.client.auth": "none"}, "who may come in stays as in the file"),
        ({"listeners": f"{IN},{OUT},NEW://127.0.0.1:9093"}, "two of them have the same port"),
    ],
)  # fmt: skip
def test_what_leads_elsewhere_or_changes_those_of_the_file_is_refused_and_the_file_holds(
    own: dict[str, str], words: str
) -> None:
    config, problem = taken(own)
    assert words in problem
    assert config.listeners == file().listeners
    assert config.advertised_listeners == file().advertised_listeners
    assert config.tls == file().tls


def test_who_is_refused_is_told_what_to_do() -> None:
    _, problem = taken({"listeners": IN, "advertised.listeners": IN})
    assert problem.endswith("properties file only: set it there and restart the broker")


def test_no_more_than_some_are_added() -> None:
    most = [f"N{number}://127.0.0.1:{number + 1}" for number in range(ADDED_MAX + 1)]
    protocols = ",".join([PROTOCOLS, *(f"{each.partition(':')[0]}:PLAINTEXT" for each in most)])
    for count, is_taken in ((ADDED_MAX, True), (ADDED_MAX + 1, False)):
        own = {
            "listeners": ",".join([IN, OUT, *most[:count]]),
            "listener.security.protocol.map": protocols,
        }
        assert (taken(own)[1] == "") is is_taken


@pytest.mark.parametrize(
    ("of_file", "address", "is_further"),
    [
        ("127.0.0.1", "127.0.0.1", False), ("127.0.0.1", "127.9.9.9", False),
        ("127.0.0.1", "::1", False), ("127.0.0.1", "::ffff:127.0.0.1", False),
        ("127.0.0.1", "10.1.2.3", True), ("127.0.0.1", "0.0.0.0", True), ("127.0.0.1", "", True),
        ("127.0.0.1", "::", True), ("127.0.0.1", "::ffff:0.0.0.0", True),
        ("10.1.2.3", "127.0.0.1", False), ("10.1.2.3", "10.1.2.3", False),
        ("10.1.2.3", "::ffff:10.1.2.3", False), ("10.1.2.3", "10.1.2.4", True),
        ("10.1.2.3", "0.0.0.0", True), ("0.0.0.0", "10.1.2.3", False), ("", "0.0.0.0", False),
        ("0.0.0.0", "::", True), ("0.0.0.0", "2001:db8::1", True), ("::", "0.0.0.0", False),
        ("::", "2001:db8::1", False), ("inside.example", "10.9.9.9", False),
        ("inside.example", "10.9.9.8", True),
    ],
)  # fmt: skip
def test_loopback_is_less_than_one_address_and_that_less_than_any(
    of_file: str, address: str, is_further: bool
) -> None:
    host = f"[{of_file}]" if ":" in of_file else of_file
    static = parse(f"{FILE}listeners=A://{host}:1\nadvertised.listeners=A://h:1\n"
                   "listener.security.protocol.map=A:PLAINTEXT\n")  # fmt: skip
    found = {"inside.example": "10.9.9.9"}
    assert reaches_further(static, None, address, lambda name: found.get(name, name)) is is_further


def test_one_that_asks_less_of_clients_reaches_further() -> None:
    static, key = file(), Store("/key.pem")
    for trust, auth, address, is_further in (
        ("/ca.pem", "required", "10.1.2.3", False), ("/ca.pem", "requested", "10.1.2.3", True),
        ("/mine.pem", "required", "10.1.2.3", True), ("", "none", "10.1.2.3", True),
        ("", "none", "127.0.0.1", False),
    ):  # fmt: skip
        tls = SslConfigs(key, Store(trust), client_auth=auth)
        assert reaches_further(static, tls, address, str) is is_further
    assert reaches_further(static, None, "0.0.0.0", str)


def test_a_store_of_the_file_is_read_as_it_is_and_a_clients_is_not_looked_for_in_the_logs() -> None:
    own = {"listeners": f"{IN},{OUT},TLS://127.0.0.1:99"}
    assert taken(own)[0].tls["TLS"].keystore.barred_dirs is None
    config, _ = taken(own | {STORE: "/client.pem"})
    assert config.tls["TLS"].keystore.barred_dirs == ("/l",)
    assert config.tls["OUT"].keystore.barred_dirs is None
    assert taken(own | {STORE: "/file.pem"})[0].tls["TLS"].keystore.barred_dirs is None


def test_one_listener_is_taken_back() -> None:
    wanted, _ = taken({"listeners": f"{IN},{OUT},TLS://127.0.0.1:99",
                       "advertised.listeners": f"{TOLD},TLS://127.0.0.1:99"})  # fmt: skip
    moved, _ = taken({"listeners": f"{IN},{OUT},TLS://127.0.0.1:98",
                      "advertised.listeners": f"{TOLD},TLS://127.0.0.1:98"})  # fmt: skip
    assert with_listener_of(moved, wanted, "TLS").listeners == wanted.listeners
    back = with_listener_of(wanted, file(), "TLS")
    assert (back.listeners, back.tls) == (file().listeners, file().tls)
    assert back.advertised_listeners == file().advertised_listeners
