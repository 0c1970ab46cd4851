"""Which changes of a broker's settings are accepted while it runs, which are refused."""

import pytest

from brokerd.config.all_dynamic_configs import KAFKA_SETTINGS
from brokerd.config.broker_config import BrokerConfig, known_keys, parse
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig, is_read_only
from brokerd.config.validate_reconfiguration import validate_change
from brokerd.errors import ErrorCode, KafkaError

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nlog.retention.hours=2\n"
OWN, DEFAULT = "1", ""


def settings(**places: dict[str, str]) -> DynamicBrokerConfig:
    return DynamicBrokerConfig(static=parse(FILE), **places)


def refusal(name: str, *changes: tuple[str, str], held: dict[str, str] | None = None) -> str:
    """Why a change is refused; '' where it is taken."""
    before = held or {}
    places = {"own" if name else "defaults": before}
    try:
        validate_change(settings(**places), name, before, {**before, **dict(changes)})
    except KafkaError as error:
        return f"{error.code.name} {error.message}"
    return ""


@pytest.mark.parametrize("where", [OWN, DEFAULT])
@pytest.mark.parametrize(
    "change",
    [
        ("log.retention.ms", "1"), ("log.cleaner.threads", "2"), ("max.connections", "0"),
        ("log.cleanup.policy", "compact,delete"), ("num.io.threads", "16"), ("no.such", "x"),
        ("listener.name.a.max.connections", "2"), ("listener.name.a.num.network.threads", "2"),
        ("listener.name.a.max.connection.creation.rate", "2"),
        ("leader.replication.throttled.rate", "0"), ("metric.reporters", ""),
        ("unclean.leader.election.enable", "TRUE"), ("log.cleaner.dedupe.buffer.size", "2000000"),
    ],
)  # fmt: skip
def test_what_kafka_lets_be_changed_is_taken(where: str, change: tuple[str, str]) -> None:
    assert refusal(where, change) == ""


@pytest.mark.parametrize("where", [OWN, DEFAULT])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("num.partitions", "2", "Cannot update these configs dynamically: num.partitions"),
        *(
            (name, "2", f"Cannot update these configs dynamically: {name}. This broker {why}")
            for name, why in (
                ("ssl.client.auth", "reads them from its properties file"),
                ("listener.name.a.max.connections.per.ip", "has them for all listeners together"),
            )
        ),
        ("log.retention.hours", "2", "dynamically"), ("brokerd.admin.port", "1", "dynamically"),
        ("ssl.keystore.location", "/x", "dynamically"),
        ("listener.name.a.max.connections", "0", "at least 1"),
        ("listener.name.a.max.connection.creation.rate", "x", "not a whole number"),
        ("listener.name.a.num.network.threads", "x", "not a whole number"),
        ("process.roles", "broker", "dynamically"),
        ("log.cleaner.threads", "x", "not a whole number"),
        ("log.retention.ms", "0", "at least 1"), ("log.roll.ms", "0", "at least 1"),
        ("max.connections.per.ip", "0", "at least 1"), ("max.connections", "-1", "at least 0"),
        ("log.cleanup.policy", "keep", "delete, compact"),
        ("log.cleanup.policy", "delete,", "delete, compact"),
        ("log.cleaner.dedupe.buffer.size", "1048576", "1 MiB"),
        ("num.replica.fetchers", "one", "not a whole number"),
        ("log.message.downconversion.enable", "maybe", "neither true nor false"),
        ("follower.replication.throttled.rate", "-1", "at least 0"),
        ("remote.fetch.max.wait.ms", "3000000000", "at most"),
    ],
)  # fmt: skip
def test_what_is_wrong_or_fixed_is_refused(where: str, name: str, value: str, words: str) -> None:
    said = refusal(where, (name, value))
    assert said.startswith(ErrorCode.INVALID_REQUEST.name)
    assert words in said


def test_addresses_may_be_shut_out_where_others_have_a_limit_of_their_own() -> None:
    overrides = {"max.connections.per.ip.overrides": "127.0.0.1:5"}
    assert refusal(OWN, ("max.connections.per.ip", "0"), held=overrides) == ""


TLS = """listeners=SSL://127.0.0.1:9093
ssl.keystore.type=PEM
ssl.keystore.location=/first.pem
"""
STORE = "listener.name.ssl.ssl.keystore.location"


def test_a_listeners_key_store_is_another_for_one_broker_alone() -> None:
    static = parse(FILE + TLS)
    config, problems = DynamicBrokerConfig(static=static, own={STORE: "/second.pem"}).effective()
    assert (config.tls["SSL"].keystore.location, problems) == ("/second.pem", [])
    assert static.tls["SSL"].keystore.location == "/first.pem"
    after = validate_change(DynamicBrokerConfig(static=static), OWN, {}, {STORE: "/second.pem"})
    assert after.tls == config.tls
    assert "broker id must be specified" in refusal(DEFAULT, (STORE, "/second.pem"))


def test_a_store_that_cannot_be_leaves_the_one_of_the_file() -> None:
    own = {"listener.name.ssl.ssl.keystore.type": "JKS", "message.max.bytes": "7"}
    config, (problem,) = DynamicBrokerConfig(static=parse(FILE + TLS), own=own).effective()
    assert "JKS is a store of Java's own" in problem
    assert (config.tls["SSL"].keystore.location, config.log_defaults.max_message_bytes) == (
        "/first.pem",
        7,
    )
    with pytest.raises(KafkaError, match="JKS"):
        validate_change(DynamicBrokerConfig(static=parse(FILE + TLS)), OWN, {}, own)


LISTENERS = """listeners=IN://127.0.0.1:9092,OUT://127.0.0.1:9093
listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT
inter.broker.listener.name=IN
"""
OF_FILE = "IN://127.0.0.1:9092,OUT://127.0.0.1:9093"
IN_AND = "IN://127.0.0.1:9092"
SECURE = {
    "listeners": f"{OF_FILE},TLS://127.0.0.1:9094",
    "listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT,TLS:SSL",
    "listener.name.tls.ssl.keystore.type": "PEM",
    "listener.name.tls.ssl.keystore.location": "/x.pem",
    "listener.name.tls.ssl.enabled.protocols": "TLSv1.3",
}


def of_listeners(held: dict[str, str], **wanted: str | None) -> BrokerConfig:
    """What holds when a broker with two listeners goes from `held` to that with `wanted`, the
    names with _ for their dots."""
    changes = {name.replace("_", "."): text for name, text in wanted.items()}
    after = {name: text for name, text in {**held, **changes}.items() if text is not None}
    before = DynamicBrokerConfig(static=parse(FILE + LISTENERS), own=held)
    return validate_change(before, OWN, held, after)


def test_listeners_come_and_go_with_what_is_said_of_them() -> None:
    config = of_listeners({}, **{name.replace(".", "_"): it for name, it in SECURE.items()})
    assert [(each.name, each.protocol, each.port) for each in config.listeners] == [
        ("IN", "PLAINTEXT", 9092), ("OUT", "PLAINTEXT", 9093), ("TLS", "SSL", 9094),
    ]  # fmt: skip
    assert list(config.advertised_listeners) == ["IN", "OUT", "TLS"]
    assert config.tls["TLS"].protocols == ("TLSv1.3",)
    back = of_listeners(SECURE, **{name.replace(".", "_"): None for name in SECURE})
    assert back.listeners == parse(FILE + LISTENERS).listeners


def test_a_listener_that_was_added_may_move_and_be_told_by_another_name() -> None:
    moved = f"{OF_FILE},TLS://127.0.0.2:99"
    config = of_listeners(
        SECURE, listeners=moved, advertised_listeners=f"{OF_FILE},TLS://localhost:99"
    )
    assert (config.listeners[2].host, config.listeners[2].port) == ("127.0.0.2", 99)
    assert str(config.advertised_listeners["TLS"]) == "TLS://localhost:99"


@pytest.mark.parametrize(
    ("held", "change", "words"),
    [
        ({}, {"listeners": "OUT://127.0.0.1:9093"}, "inter.broker.listener.name: IN is not an"),
        ({}, {"advertised_listeners": "OUT://h:1"}, "inter.broker.listener.name: IN is not an"),
        ({}, {"listeners": f"{IN_AND},NEW://127.0.0.1:1"}, "NEW has no entry in listener.security"),
        ({}, {"listeners": f"{IN_AND},OUT://127.0.0.1:9092"}, "two of them have the same port"),
        ({}, {"listeners": f"{IN_AND},OUT://127.0.0.1:9192"}, "brokerd.admin.port"),
        ({}, {"listeners": f"{IN_AND},OUT://0.0.0.0:9093"}, "cannot be advertised to clients"),
        ({}, {"listeners": "nowhere"}, "'nowhere' is not NAME://host:port"),
        ({}, {"advertised_listeners": f"{IN_AND},X://h:1"}, "X has no entry"),
        ({}, {"listener_security_protocol_map": "IN:PLAINTEXT,OUT:MORSE"}, "names no protocol of"),
        ({}, {"listener_security_protocol_map": "IN:PLAINTEXT,OUT:SSL"}, "ssl.keystore.location"),
        (SECURE, {"listener_name_tls_ssl_enabled_protocols": "TLSv1.2"}, "listener TLS is open"),
        (SECURE, {"listener_name_tls_ssl_enabled_protocols": None}, "the listener TLS is open"),
        (SECURE, {"listener_name_tls_ssl_keystore_location": None}, "SSL listener needs a key"),
        (SECURE, {"listener_security_protocol_map": "IN:PLAINTEXT,OUT:PLAINTEXT,TLS:PLAINTEXT"},
         "speaks SSL"),
        (SECURE, {"listener_security_protocol_map": None}, "TLS has no entry"),
    ],
)  # fmt: skip
def test_listeners_that_cannot_be_are_refused(
    held: dict[str, str], change: dict[str, str | None], words: str
) -> None:
    with pytest.raises(KafkaError) as caught:
        of_listeners(held, **change)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert words in caught.value.message


def test_which_listeners_there_are_is_said_for_one_broker() -> None:
    for name in SECURE:
        assert "broker id must be specified" in refusal(DEFAULT, (name, SECURE[name]))


def test_what_is_there_already_does_not_keep_other_settings_from_changing() -> None:
    held = {"num.partitions": "3", "log.retention.ms": "soon"}
    assert refusal(OWN, ("message.max.bytes", "5"), held=held) == ""


def test_no_setting_that_names_a_file_changes_at_run_time_but_the_stores_of_one_listener() -> None:
    of_files = [
        name
        for name in KAFKA_SETTINGS.keys() | known_keys().keys()
        if name.endswith((".location", ".file", ".path", ".dir", ".dirs", ".cmd", ".url"))
    ]
    assert len(of_files) > 10
    taken = {name for name in of_files if not refusal(OWN, (name, "/x"))}
    assert taken == set()
    for name in of_files:
        one = f"listener.name.plaintext.{name}"
        is_store = name in ("ssl.keystore.location", "ssl.truststore.location")
        assert is_read_only(one) is not is_store
