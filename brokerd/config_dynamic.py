"""Settings that change while brokers run (KIP-226): what is taken, what is refused, what holds.

A broker's setting comes from its properties file, above that from the default of all brokers
(`/config/brokers/<default>`), above that from its own dynamic config (`/config/brokers/<id>`). Of
what Kafka lets be changed, a setting that this broker acts on holds at once; the sizes of Kafka's
thread pools and the like are kept and have no effect. Of what Kafka reads anew for one broker only,
the key and trust stores of a listener are opened anew here too; the rest (listeners, SASL) is read
when a broker starts, and refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from brokerd import config_values as v
from brokerd.config import BrokerConfig, is_honoured, parse_setting
from brokerd.config_catalog import ConfigType, KnownSetting, UpdateMode, known_setting
from brokerd.config_tls import is_live_tls_key
from brokerd.errors import ErrorCode, KafkaError

DEFAULT_NAME = "<default>"
"""What `/config/brokers` calls the default of all brokers."""

_THREADS = {
    "background.threads": 10,
    "log.cleaner.threads": 1,
    "num.io.threads": 8,
    "num.network.threads": 3,
    "num.recovery.threads.per.data.dir": 1,
    "num.replica.fetchers": 1,
}
"""Counts of threads with their defaults: one step may halve or double them, no more."""
_DEDUPE_BYTES_PER_THREAD = 1 << 20
DYNAMIC_ONLY = frozenset(
    {
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Settings of brokers that are dynamic only (DynamicConfig.Broker): no properties file has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """The three places that a broker's settings come from; texts as they were written."""

    static: BrokerConfig
    defaults: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)

    def effective(self) -> tuple[BrokerConfig, list[str]]:
        """What holds, and a sentence for each dynamic setting that cannot be taken."""
        taken, problems = self._taken()
        stores = {name: text for name, text in self.own.items() if is_live_tls_key(name)}
        of_stores: list[str] = []
        config = self.static.with_changes({**taken, **stores}, of_stores)
        if of_stores:
            return self.static.with_changes(taken, []), problems + of_stores
        return config, problems

    def texts(self) -> dict[str, str]:
        """The settings in force that anybody set, as they were written."""
        return {**self.static.raw, **self._taken()[0]}

    def left_out(self) -> list[str]:
        """The settings that stand in ZooKeeper, written there by a broker of Kafka's, but are read
        from the properties file alone."""
        return sorted(filter(is_read_only, {*self.defaults, *self.own}))

    def _taken(self) -> tuple[dict[str, str], list[str]]:
        taken: dict[str, str] = {}
        problems: list[str] = []
        for name, text in (*self.defaults.items(), *self.own.items()):
            if not _is_live(name):
                continue
            try:
                parse_setting(name, text.strip())
                taken[name] = text.strip()
            except ValueError as error:
                problems.append(f"{name}: {error}")
        return taken, problems


def is_read_only(name: str) -> bool:
    """Whether a setting is read when a broker starts and never again. Limits of one listener are
    not known here."""
    if name.startswith("listener.name."):
        return not is_live_tls_key(name)
    known = known_setting(name)
    if known is None:
        return is_honoured(name)
    return known.mode is not UpdateMode.CLUSTER_WIDE


def _is_live(name: str) -> bool:
    return is_honoured(name) and not is_read_only(name)


def check_change(
    settings: BrokerSettings, name: str, held: Mapping[str, str], wanted: Mapping[str, str]
) -> BrokerConfig:
    """What holds when the dynamic config of `name` (a broker id, or '' for the default of all) goes
    from `held` to `wanted`. Raises KafkaError(INVALID_REQUEST) that names what is wrong; what is
    there already stays, whoever wrote it."""
    changed = {each: text for each, text in wanted.items() if held.get(each) != text}
    fixed = sorted(each for each in changed if is_read_only(each))
    if fixed:
        raise _invalid(
            f"Cannot update these configs dynamically: {', '.join(fixed)}. {_why_fixed(fixed)}"
        )
    stores = sorted(filter(is_live_tls_key, changed))
    if stores and not name:
        raise _invalid(
            "Cannot update these configs at default cluster level, broker id must be specified:"
            f" {', '.join(stores)}"
        )
    for each, text in changed.items():
        _check_value(each, text.strip())
    _check_threads(settings, changed)
    after = (
        BrokerSettings(static=settings.static, defaults=settings.defaults, own=wanted)
        if name
        else BrokerSettings(static=settings.static, defaults=wanted, own=settings.own)
    )
    config, problems = after.effective()
    if stores and problems:
        raise _invalid("; ".join(problems))
    _check_together(config, changed)
    return config


def _why_fixed(names: Sequence[str]) -> str:
    if all(each.startswith("listener.name.") and _is_limit(each) for each in names):
        return "This broker has them for all listeners together only"
    return "This broker reads them from its properties file when it starts"


def _is_limit(name: str) -> bool:
    """Of one listener, and known for all of them together."""
    _, _, key = name.removeprefix("listener.name.").partition(".")
    return _is_live(key) or key in _THREADS


def _check_value(name: str, text: str) -> None:
    known = known_setting(name)
    try:
        if is_honoured(name):
            parse_setting(name, text)
        elif name in DYNAMIC_ONLY:
            v.integer(0)(text)
        elif known is not None:
            _check_type(known, text)
    except ValueError as error:
        raise _invalid(f"Invalid value {text} for configuration {name}: {error}") from None


def _check_type(known: KnownSetting, text: str) -> None:
    if known.type is ConfigType.PASSWORD:
        raise ValueError("secrets are not kept in ZooKeeper by this broker")
    if known.type is ConfigType.BOOLEAN:
        v.boolean(text)
    elif known.type is ConfigType.DOUBLE:
        v.number_above(-v.DOUBLE_MAX)(text)
    elif known.type in (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG):
        most = v.LONG_MAX if known.type is ConfigType.LONG else v.INT_MAX
        v.integer(-most - 1, most)(text)


def _check_threads(settings: BrokerSettings, changed: Mapping[str, str]) -> None:
    """As DynamicThreadPool and LogCleaner do: a step that is too far is a mistake in typing."""
    for name in sorted(_THREADS.keys() & changed.keys()):
        before, after = _threads_now(settings, name), int(changed[name])
        if not max(1, before // 2) <= after <= before * 2:
            raise _invalid(
                f"{name} can be {max(1, before // 2)} to {before * 2} next, since it is {before}"
            )


def _threads_now(settings: BrokerSettings, name: str) -> int:
    """The count that is set first, of those that are one."""
    for place in (settings.own, settings.defaults, settings.static.raw):
        try:
            return int(v.integer(1)(place[name]))
        except (KeyError, ValueError):
            continue
    return _THREADS[name]


def _check_together(after: BrokerConfig, changed: Iterable[str]) -> None:
    names = set(changed)
    if "log.retention.ms" in names and after.log_retention_ms == 0:
        raise _invalid("log.retention.ms must be -1 for no limit, or at least 1")
    if after.max_connections_per_ip == 0 and not after.max_connections_per_ip_overrides:
        raise _invalid(
            "max.connections.per.ip must be at least 1 without max.connections.per.ip.overrides"
        )
    share = after.log_cleaner_dedupe_buffer_size // after.log_cleaner_threads
    touched = names & {"log.cleaner.dedupe.buffer.size", "log.cleaner.threads"}
    if touched and share <= _DEDUPE_BYTES_PER_THREAD:
        raise _invalid(
            "log.cleaner.dedupe.buffer.size must be above 1 MiB for each of log.cleaner.threads"
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
