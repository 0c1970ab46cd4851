"""The settings of a broker while it runs (KIP-226): where a value comes from, and which may change.
A change is checked in `validate_reconfiguration`; `BrokerConfigHandler.take_over` applies it, and
`Broker._reconfigure` passes it to the parts (Kafka's BrokerReconfigurable).

The value of a broker setting is that of the broker's dynamic config (`/config/brokers/<id>`), else
that of the default of all brokers (`/config/brokers/<default>`), else that of the properties file.

- A setting that this broker acts on takes effect at once.
- Sizes of Kafka's thread pools and the like are stored and have no effect.
- Settings of listeners: listeners are opened, moved and closed (DynamicListenerConfig), within the
  limits of `dynamic_listener_config`; key and trust stores are opened again.
- Settings that a broker reads only when it starts (SASL, `ssl.*` for all listeners) are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokerd.config.all_dynamic_configs import UpdateMode, known_setting
from brokerd.config.broker_config import BrokerConfig, is_honoured, parse_setting
from brokerd.config.dynamic_listener_config import listener_problems, with_barred_dirs
from brokerd.config.listeners import LISTENER_SETTINGS, is_listener_limit
from brokerd.config.ssl_configs import PREFIX, tls_key_of_listener

DEFAULT_NAME = "<default>"
"""What `/config/brokers` calls the default of all brokers."""

DYNAMIC_ONLY = frozenset(
    {
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Settings of brokers that are dynamic only (DynamicConfig.Broker): no properties file has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicBrokerConfig:
    """The three sources of a broker's settings; values are texts as they were written."""

    static: BrokerConfig
    defaults: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)

    def effective(self) -> tuple[BrokerConfig, list[str]]:
        """The settings in effect, and a sentence for each dynamic setting that is invalid."""
        config, problems, of_listeners = self.effective_with_listener_problems()
        return config, problems + of_listeners

    def effective_with_listener_problems(self) -> tuple[BrokerConfig, list[str], list[str]]:
        """As `effective`, but problems of listeners are apart; if there are any, the listeners of
        the file are in effect."""
        taken, problems = self._taken()
        listeners = {name: text.strip() for name, text in self.own.items() if is_of_listeners(name)}
        of_listeners: list[str] = []
        config = self.static.with_changes({**taken, **listeners}, of_listeners)
        of_listeners = of_listeners or listener_problems(self.static, config)
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
            if not _applies_at_once(name):
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


def _applies_at_once(name: str) -> bool:
    return is_honoured(name) and not is_read_only(name)
