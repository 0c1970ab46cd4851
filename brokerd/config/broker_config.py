"""A broker's settings (Kafka's KafkaConfig): Kafka's names, parsed once into one frozen object.

Every problem is collected, so that a file with five mistakes is reported with five messages and
nothing starts. Unknown keys only warn, because a server.properties written for Kafka should start.
A field's Kafka name is its own with dots for underscores. Settings that are the default of a topic
setting are in `log_defaults`; `log_config.TOPIC_KEYS` has their names and defaults.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from brokerd.config import value_parsers as v
from brokerd.config.all_dynamic_configs import known_setting
from brokerd.config.listeners import (
    LISTENER_SETTINGS,
    ConnectionLimits,
    Listener,
    advertise,
    is_listener_limit,
    listener_names,
    parse_listeners,
    parse_protocol_map,
    ports_taken,
)
from brokerd.config.log_config import TOPIC_KEYS, LogConfig
from brokerd.config.ssl_configs import PREFIX, SslConfigs, is_tls_key, ssl_configs

DEFAULT_PROTOCOL_MAP = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"
T = TypeVar("T")


class ConfigError(Exception):
    """All errors of a configuration; `problems` has one sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def _setting(parser: v.Parser, default: Any = MISSING) -> Any:
    if default is MISSING:
        return field(metadata={"parser": parser})
    return field(default=default, metadata={"parser": parser})


_positive = v.integer(1)
_count = v.integer(1, v.INT_MAX)
_not_negative = v.integer(0)
_unlimited = v.integer(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """One broker's settings. Times, sizes and counts have Kafka's units, named in the key."""

    broker_id: int = _setting(v.integer(0, v.INT_MAX))
    broker_rack: str = _setting(v.string, "")
    zookeeper_connect: str = _setting(v.zookeeper_connect)
    zookeeper_session_timeout_ms: int = _setting(_count, 18_000)
    zookeeper_connection_timeout_ms: int = _setting(_count, 18_000)
    zookeeper_set_acl: bool = _setting(v.boolean, False)
    brokerd_zookeeper_jaas_file: str = _setting(v.string, "")
    log_dirs: tuple[str, ...] = _setting(v.words)

    listeners: tuple[Listener, ...] = ()
    advertised_listeners: Mapping[str, Listener] = field(default_factory=dict)
    inter_broker_listener_name: str = "PLAINTEXT"
    tls: Mapping[str, SslConfigs] = field(default_factory=dict)
    """Of each listener that speaks SSL, by its name."""

    num_partitions: int = _setting(_count, 1)
    default_replication_factor: int = _setting(v.integer(1, 32767), 1)
    auto_create_topics_enable: bool = _setting(v.boolean, True)
    delete_topic_enable: bool = _setting(v.boolean, True)
    replica_lag_time_max_ms: int = _setting(_positive, 30_000)
    replica_high_watermark_checkpoint_interval_ms: int = _setting(_positive, 5_000)

    log_retention_check_interval_ms: int = _setting(_positive, 300_000)
    log_cleaner_enable: bool = _setting(v.boolean, True)
    log_cleaner_threads: int = _setting(v.integer(1, v.INT_MAX), 1)
    log_cleaner_dedupe_buffer_size: int = _setting(v.integer(1024), 134_217_728)
    log_cleaner_io_buffer_size: int = _setting(v.integer(1024, v.INT_MAX), 524_288)
    log_cleaner_io_buffer_load_factor: float = _setting(v.ratio, 0.9)
    log_cleaner_io_max_bytes_per_second: float = _setting(v.number_above(0), v.DOUBLE_MAX)
    log_cleaner_backoff_ms: int = _setting(_not_negative, 15_000)
    log_flush_scheduler_interval_ms: int = _setting(_positive, v.LONG_MAX)
    log_flush_offset_checkpoint_interval_ms: int = _setting(_positive, 60_000)
    log_flush_start_offset_checkpoint_interval_ms: int = _setting(_positive, 60_000)
    producer_id_expiration_ms: int = _setting(_positive, 86_400_000)
    producer_id_expiration_check_interval_ms: int = _setting(_positive, 600_000)

    offsets_topic_num_partitions: int = _setting(_count, 50)
    offsets_topic_replication_factor: int = _setting(v.integer(1, 32767), 1)
    offsets_topic_segment_bytes: int = _setting(_count, 104_857_600)
    offsets_retention_minutes: int = _setting(_count, 10_080)
    offsets_retention_check_interval_ms: int = _setting(_positive, 600_000)
    offsets_commit_timeout_ms: int = _setting(_count, 5_000)
    offset_metadata_max_bytes: int = _setting(v.integer(0, v.INT_MAX), 4096)
    group_min_session_timeout_ms: int = _setting(_count, 6_000)
    group_max_session_timeout_ms: int = _setting(_count, 1_800_000)
    group_initial_rebalance_delay_ms: int = _setting(v.integer(0, v.INT_MAX), 3_000)
    group_max_size: int = _setting(_count, v.INT_MAX)

    socket_request_max_bytes: int = _setting(_count, 104_857_600)
    socket_send_buffer_bytes: int = _setting(v.integer(-1, v.INT_MAX), -1)
    socket_receive_buffer_bytes: int = _setting(v.integer(-1, v.INT_MAX), -1)
    queued_max_request_bytes: int = _setting(_unlimited, 268_435_456)
    fetch_max_bytes: int = _setting(v.integer(1024, v.INT_MAX), 57_671_680)
    max_incremental_fetch_session_cache_slots: int = _setting(v.integer(0, v.INT_MAX), 1_000)
    max_connections: int = _setting(v.integer(0, v.INT_MAX), v.INT_MAX)
    max_connections_per_ip: int = _setting(v.integer(0, v.INT_MAX), v.INT_MAX)
    max_connections_per_ip_overrides: str = _setting(v.host_limits, "")
    max_connection_creation_rate: int = _setting(_count, v.INT_MAX)
    connections_max_idle_ms: int = _setting(_unlimited, 600_000)

    brokerd_admin_port: int = _setting(v.integer(0, 65535), 9192)
    brokerd_admin_token_file: str = _setting(v.string, "")
    brokerd_slow_request_ms: int = _setting(_positive, 1_000)
    brokerd_validate_records: str = _setting(v.one_of("header", "all"), "header")

    log_defaults: LogConfig = field(default_factory=LogConfig)
    """The settings of topics without their own."""
    raw: Mapping[str, str] = field(default_factory=dict)
    """The known keys that were set, as written; the rest are defaults."""
    warnings: tuple[str, ...] = ()

    def with_bound_ports(self, ports: Mapping[str, int]) -> "BrokerConfig":
        """The same settings with the ports that the system chose for port 0, by listener name."""
        bound = tuple(replace(each, port=ports[each.name]) for each in self.listeners)
        advertised = {
            name: replace(each, port=each.port or ports[name])
            for name, each in self.advertised_listeners.items()
        }
        return replace(self, listeners=bound, advertised_listeners=advertised)

    def with_changes(self, texts: Mapping[str, str], problems: list[str]) -> "BrokerConfig":
        """The settings with these changes: plain ones, which `parse_setting` has accepted, and
        those of listeners, whose errors are added to `problems`."""
        values = {
            setting.field: setting.parser(text)
            for name, text in texts.items()
            if (setting := _SETTINGS.get(name)) and setting.field
        }
        raw = {**self.raw, **texts}
        values["log_defaults"] = LogConfig.from_properties(raw)
        if any(not is_honoured(name) for name in texts):
            inner = {"inter.broker.listener.name": self.inter_broker_listener_name}
            values |= _listener_values({**raw, **inner}, problems)
            listeners = values.get("listeners", ())
            problems += ports_taken(listeners, self.brokerd_admin_port)
            values["tls"] = _tls_of(listeners, raw, problems)
        return replace(self, **values, raw=raw)

    def with_listeners_of(self, other: "BrokerConfig") -> "BrokerConfig":
        return replace(
            self,
            listeners=other.listeners,
            advertised_listeners=other.advertised_listeners,
            tls=other.tls,
        )

    def listener_limits(self) -> dict[str, ConnectionLimits]:
        """The limits of each listener; without a setting of its own, those of all together."""

        def limit(listener: str, key: str, of_all: int) -> int:
            text = self.raw.get(f"{PREFIX}{listener.lower()}.{key}")
            return of_all if text is None else int(text)

        return {
            each.name: ConnectionLimits(
                limit(each.name, "max.connections", self.max_connections),
                limit(each.name, "max.connection.creation.rate", self.max_connection_creation_rate),
            )
            for each in self.listeners
        }


class _PlainSetting(NamedTuple):
    """A plain setting; `field` is that of BrokerConfig, '' if it is one of `log_defaults`."""

    parser: v.Parser
    default: Any
    field: str = ""


def _retention_ms(text: str) -> int:
    found = v.limit(text)
    if found == 0:
        raise ValueError("it must be -1 for no limit, or at least 1")
    return found


_OF_BROKERS: Mapping[str, v.Parser] = {
    "cleanup.policy": v.words_of("delete", "compact"),
    "flush.ms": _positive,
    "retention.bytes": v.limit,
    "retention.ms": _retention_ms,
}
"""What brokers take for the default of a topic setting, where it is not what topics take."""
_SETTINGS = {
    each.name.replace("_", "."): _PlainSetting(each.metadata["parser"], each.default, each.name)
    for each in fields(BrokerConfig)
    if "parser" in each.metadata
} | {
    key.broker_keys[0].name: _PlainSetting(_OF_BROKERS.get(name, key.value_of), key.default_value)
    for name, key in TOPIC_KEYS.items()
}
_COMPUTED = {*LISTENER_SETTINGS, "inter.broker.listener.name", "log.dir"}
_UNITS = {
    coarser.name: (key.broker_keys[0].name, coarser.factor)
    for key in TOPIC_KEYS.values()
    for coarser in key.broker_keys
    if coarser.factor > 1
}
"""Coarser names of a time; the finer name wins, as in Kafka."""


INTERNAL = frozenset({"producer.id.expiration.check.interval.ms"})
"""Settings that Kafka reads but does not list (ConfigDef.defineInternal)."""


@cache
def known_keys() -> Mapping[str, Any]:
    """Every plain key with its default (None if it is required), for documentation and tools."""
    return {
        name: None if each.default is MISSING else each.default for name, each in _SETTINGS.items()
    }


def is_honoured(name: str) -> bool:
    """Whether a setting is a plain one with an effect, or a limit of one listener."""
    return name in _SETTINGS or is_listener_limit(name)


def parse_setting(name: str, text: str) -> Any:
    """The value of one plain setting. Raises ValueError that says what would be valid."""
    return _count(text) if is_listener_limit(name) else _SETTINGS[name].parser(text)


def parse(properties_text: str, overrides: Mapping[str, str] | None = None) -> BrokerConfig:
    """The configuration of a properties file with overrides. Raises ConfigError."""
    raw = {**v.read_properties(properties_text), **(overrides or {})}
    problems: list[str] = []
    texts = _with_units(raw, problems)
    if "log.dirs" not in texts and "log.dir" in texts:
        texts["log.dirs"] = texts["log.dir"]
    values = _plain_values(texts, problems)
    values.update(_listener_values(texts, problems))
    values["tls"] = _tls_of(values.get("listeners", ()), texts, problems)
    problems += _contradictions(values)
    limits = filter(is_listener_limit, raw)
    problems += [problem for name in limits for problem in _wrong(name, raw[name])]
    if problems:
        raise ConfigError(problems)
    of_listeners = {name for name in raw if is_tls_key(name) or is_listener_limit(name)}
    known = _SETTINGS.keys() | _COMPUTED | _UNITS.keys() | of_listeners
    known_texts = {name: text for name, text in raw.items() if name in known}
    return BrokerConfig(
        **values,
        log_defaults=LogConfig.from_properties(known_texts),
        raw=known_texts,
        warnings=tuple(_ignored(name) for name in raw if name not in known),
    )


def _wrong(name: str, text: str) -> list[str]:
    try:
        parse_setting(name, text)
    except ValueError as error:
        return [f"{name}: {error}"]
    return []


def _ignored(name: str) -> str:
    if known_setting(name) is None:
        return f"unknown setting {name} is ignored"
    return f"the setting {name} of Kafka has no effect here"


def _tls_of(
    listeners: Iterable[Listener], texts: Mapping[str, str], problems: list[str]
) -> dict[str, SslConfigs]:
    return {
        each.name: ssl_configs(texts, each.name, problems)
        for each in listeners
        if each.protocol == "SSL"
    }


def _with_units(raw: dict[str, str], problems: list[str]) -> dict[str, str]:
    texts = dict(raw)
    for name, (finer, factor) in _UNITS.items():
        if name not in raw:
            continue
        try:
            amount = v.integer(-1)(raw[name])
        except ValueError as error:
            problems.append(f"{name}: {error}")
            continue
        if finer in texts:
            continue
        fine = str(-1 if amount < 0 else amount * factor)
        try:
            parse_setting(finer, fine)
            texts[finer] = fine
        except ValueError as error:
            problems.append(f"{name}: as {finer}, {error}")
    return texts


def _plain_values(texts: dict[str, str], problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, each in _SETTINGS.items():
        if name not in texts:
            if each.default is MISSING:
                problems.append(f"{name}: it must be set")
            continue
        try:
            value = each.parser(texts[name])
        except ValueError as error:
            problems.append(f"{name}: {error}")
            continue
        if each.field:
            values[each.field] = value
    return values


def _listener_values(texts: dict[str, str], problems: list[str]) -> dict[str, Any]:
    """The four settings of listeners; each is read as far as the ones before it allow."""

    def parsed(key: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except ValueError as error:
            problems.append(f"{key}: {error}")
            return None

    def listeners(key: str, default: str) -> tuple[Listener, ...] | None:
        return parsed(key, lambda: parse_listeners(texts.get(key, default), protocols or {}))

    key = "listener.security.protocol.map"
    text = texts.get(key, DEFAULT_PROTOCOL_MAP)
    protocols = parsed(key, lambda: parse_protocol_map(text))
    if protocols is None:
        return {}
    bound = listeners("listeners", "PLAINTEXT://127.0.0.1:9092")
    advertised = listeners("advertised.listeners", "")
    if bound == ():
        problems.append("listeners: it names no listener")
    names = None
    if bound and advertised is not None:
        names = parsed("advertised.listeners", lambda: advertise(bound, advertised))
    known = listener_names(texts) if names is None else set(names)
    inner = texts.get("inter.broker.listener.name", "").upper()
    if inner and inner not in known:
        problems.append(f"inter.broker.listener.name: {inner} is not an advertised listener")
    if names is None or bound is None:
        return {"listeners": bound or ()}
    if not inner:
        bound_names = [each.name for each in bound if each.name in known]
        inner = "PLAINTEXT" if "PLAINTEXT" in known else bound_names[0]
    return {"listeners": bound, "advertised_listeners": names, "inter_broker_listener_name": inner}


def _contradictions(values: dict[str, Any]) -> list[str]:
    problems = []
    if values.get("log_dirs") == ():
        problems.append("log.dirs: it names no directory")
    problems += ports_taken(values.get("listeners", ()), values.get("brokerd_admin_port", 9192))
    if values.get("zookeeper_set_acl") and not values.get("brokerd_zookeeper_jaas_file"):
        problems.append("zookeeper.set.acl: it needs brokerd.zookeeper.jaas.file")
    low = values.get("group_min_session_timeout_ms", 0)
    if low > values.get("group_max_session_timeout_ms", v.INT_MAX):
        problems.append("group.min.session.timeout.ms: it is above group.max.session.timeout.ms")
    return problems
