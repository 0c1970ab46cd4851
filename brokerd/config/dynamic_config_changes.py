"""Settings that change while brokers run (KIP-226): checks changes, and finds the value in use.

The value of a broker setting is that of the broker's dynamic config (`/config/brokers/<id>`), else
that of the default of all brokers (`/config/brokers/<default>`), else that of the properties file.

- A setting that this broker acts on takes effect at once.
- Sizes of Kafka's thread pools and the like are stored and have no effect.
- Settings of listeners: listeners are opened, moved and closed (DynamicListenerConfig), within the
  limits of `permitted_listener_changes`; key and trust stores are opened again.
- Settings that a broker reads only when it starts (SASL, `ssl.*` for all listeners) are refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from brokerd.config import values as v
from brokerd.config.broker_config import BrokerConfig, is_honoured, parse_setting
from brokerd.config.listeners import LISTENER_SETTINGS, is_listener_limit
from brokerd.config.permitted_listener_changes import problems_of_added, with_barred_dirs
from brokerd.config.setting_update_modes import KnownSetting, UpdateMode, known_setting
from brokerd.config.tls_settings import LIVE_KEYS, PREFIX, tls_key_of_listener
from brokerd.config.values import ConfigType
from brokerd.errors import ErrorCode, KafkaError

DEFAULT_NAME = "<default>"
"""What `/config/brokers` calls the default of all brokers."""

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
    """The three sources of a broker's settings; values are texts as they were written."""

    static: BrokerConfig
    defaults: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)

    def effective(self) -> tuple[BrokerConfig, list[str]]:
        """The settings in effect, and a sentence for each dynamic setting that is invalid."""
        config, problems, of_listeners = self.apart()
        return config, problems + of_listeners

    def apart(self) -> tuple[BrokerConfig, list[str], list[str]]:
        """As `effective`, but problems of listeners are apart; if there are any, the listeners of
        the file are in effect."""
        taken, problems = self._taken()
        listeners = {name: text.strip() for name, text in self.own.items() if is_of_listeners(name)}
        of_listeners: list[str] = []
        config = self.static.with_changes({**taken, **listeners}, of_listeners)
        of_listeners = of_listeners or problems_of_added(self.static, config)
        if of_listeners:
            return self.static.with_changes(taken, []), problems, of_listeners
        return with_barred_dirs(self.static, config), problems, []

    def texts(self) -> dict[str, str]:
        """The settings in effect that were set, as they were written."""
        return {**self.static.raw, **self._taken()[0]}

    def left_out(self) -> list[str]:
        """Settings in ZooKeeper that are only read from the properties file here."""
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
    """Whether a setting is read only when a broker starts."""
    if is_of_listeners(name):
        return False
    if name.startswith(PREFIX):
        return not (is_listener_limit(name) or name.endswith(".num.network.threads"))
    known = known_setting(name)
    if known is None:
        return is_honoured(name)
    return known.mode is not UpdateMode.CLUSTER_WIDE


def is_of_listeners(name: str) -> bool:
    """Whether a setting defines listeners, or is a TLS setting of one."""
    return name in LISTENER_SETTINGS or tls_key_of_listener(name) != ("", "")


def _is_live(name: str) -> bool:
    return is_honoured(name) and not is_read_only(name)


def check_each(name: str, changed: Mapping[str, str]) -> None:
    """Checks settings for the dynamic config of `name` (a broker id, or '' for the default of all),
    as far as that is possible without the broker's other settings. Raises
    KafkaError(INVALID_REQUEST) that names the error."""
    fixed = sorted(each for each in changed if is_read_only(each))
    if fixed:
        raise _invalid(
            f"Cannot update these configs dynamically: {', '.join(fixed)}. {_why_fixed(fixed)}"
        )
    of_one = sorted(filter(is_of_listeners, changed))
    if of_one and not name:
        raise _invalid(
            "Cannot update these configs at default cluster level, broker id must be specified:"
            f" {', '.join(of_one)}"
        )
    for each, text in changed.items():
        _check_value(each, text.strip())


def check_change(
    settings: BrokerSettings, name: str, held: Mapping[str, str], wanted: Mapping[str, str]
) -> BrokerConfig:
    """The configuration after the dynamic config of `name` changed from `held` to `wanted`. Raises
    as `check_each`; settings that stay as they are are not checked."""
    changed = {each: text for each, text in wanted.items() if held.get(each) != text}
    check_each(name, changed)
    after = (
        BrokerSettings(static=settings.static, defaults=settings.defaults, own=wanted)
        if name
        else BrokerSettings(static=settings.static, defaults=wanted, own=settings.own)
    )
    config, _, problems = after.apart()
    touched = changed.keys() | (held.keys() - wanted.keys())
    if any(map(is_of_listeners, touched)):
        if problems:
            raise _invalid("; ".join(problems))
        _check_open_listeners(settings.effective()[0], config, touched)
    _check_together(config, changed)
    return config


def _why_fixed(names: Sequence[str]) -> str:
    if all(each.startswith(PREFIX) for each in names):
        return "This broker has them for all listeners together only"
    return "This broker reads them from its properties file when it starts"


def _check_open_listeners(
    before: BrokerConfig, after: BrokerConfig, touched: Iterable[str]
) -> None:
    """As DynamicListenerConfig: of an open listener the protocol and the TLS settings outside
    LIVE_KEYS cannot change; its address can."""
    protocols = {each.name: each.protocol for each in before.listeners}
    staying = [each for each in after.listeners if each.name in protocols]
    for each in staying:
        if each.protocol != protocols[each.name]:
            raise _invalid(
                f"The listener {each.name} is open and speaks {protocols[each.name]}: to have one"
                f" that speaks {each.protocol} remove it first, or add another"
            )
    names = {each.name for each in staying}
    for name in sorted(touched):
        listener, key = tls_key_of_listener(name)
        if listener in names and key not in LIVE_KEYS:
            raise _invalid(
                f"{name} cannot be changed while the listener {listener} is open: remove it first,"
                " add another, or restart the broker with this in its properties file"
            )


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


def _check_together(after: BrokerConfig, changed: Iterable[str]) -> None:
    names = set(changed)
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
