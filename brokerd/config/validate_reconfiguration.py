"""Checks changes of settings that change while brokers run (Kafka's
BrokerReconfigurable.validateReconfiguration and DynamicBrokerConfig.validate). What is accepted is
written to ZooKeeper, and each broker concerned acts on it (`server/broker_config_handler.py`).
"""

from collections.abc import Iterable, Mapping, Sequence

from brokerd.config import value_parsers as v
from brokerd.config.all_dynamic_configs import KnownSetting, known_setting
from brokerd.config.broker_config import BrokerConfig, is_honoured, parse_setting
from brokerd.config.dynamic_broker_config import (
    DYNAMIC_ONLY,
    DynamicBrokerConfig,
    is_of_listeners,
    is_read_only,
)
from brokerd.config.ssl_configs import LIVE_KEYS, PREFIX, tls_key_of_listener
from brokerd.config.value_parsers import ConfigType
from brokerd.errors import ErrorCode, KafkaError

_DEDUPE_BYTES_PER_THREAD = 1 << 20


def validate_each(name: str, changed: Mapping[str, str]) -> None:
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


def validate_change(
    settings: DynamicBrokerConfig, name: str, held: Mapping[str, str], wanted: Mapping[str, str]
) -> BrokerConfig:
    """The configuration after the dynamic config of `name` changed from `held` to `wanted`. Raises
    as `validate_each`; settings that stay as they are are not checked."""
    changed = {each: text for each, text in wanted.items() if held.get(each) != text}
    validate_each(name, changed)
    after = (
        DynamicBrokerConfig(static=settings.static, defaults=settings.defaults, own=wanted)
        if name
        else DynamicBrokerConfig(static=settings.static, defaults=wanted, own=settings.own)
    )
    config, _, problems = after.effective_with_listener_problems()
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
