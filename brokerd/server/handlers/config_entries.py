"""Settings of topics and brokers as DescribeConfigs tells them: value, source, synonyms, type,
words.

Sources as on the wire. A topic's setting comes from the topic itself, else from its counterpart
in the broker's properties, else from the default; synonyms list all that are there, the one in
force first.
"""

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Any

from brokerd.cluster.topic_configs import DOCUMENTATION, WITHOUT_EFFECT
from brokerd.config import BrokerConfig, known_keys
from brokerd.log.log_config import INT32_MAX, TOPIC_KEYS, TopicKey, effective_values

Entry = dict[str, Any]


class Source(IntEnum):
    """Where a value comes from."""

    DYNAMIC_TOPIC = 1
    STATIC_BROKER = 4
    DEFAULT = 5


class ConfigType(IntEnum):
    """Types of values."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


_LISTENER_KEYS = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
)
_KINDS = {
    "bool": ConfigType.BOOLEAN,
    "float": ConfigType.DOUBLE,
    "string": ConfigType.STRING,
    "list": ConfigType.LIST,
}


def topic_entries(
    config: Mapping[str, str], broker: Mapping[str, str], wanted: Collection[str] | None
) -> list[Entry]:
    """The settings of a topic with its own `config` on a broker with these properties; `wanted`
    names the ones asked for (None: all)."""
    values = effective_values(broker, config)
    entries = [
        _topic_entry(key, values[name], config, broker)
        for name, key in TOPIC_KEYS.items()
        if wanted is None or name in wanted
    ]
    entries += [
        _entry(name, config[name], Source.DYNAMIC_TOPIC, ConfigType.STRING, [])
        for name in sorted(WITHOUT_EFFECT & config.keys())
        if wanted is None or name in wanted
    ]
    return entries


def _topic_entry(
    key: TopicKey, value: str, config: Mapping[str, str], broker: Mapping[str, str]
) -> Entry:
    synonyms = []
    if key.name in config:
        synonyms.append(_synonym(key.name, config[key.name], Source.DYNAMIC_TOPIC))
    synonyms += [
        _synonym(each.name, broker[each.name], Source.STATIC_BROKER)
        for each in key.broker_keys
        if each.name in broker
    ]
    if key.broker_keys:
        synonyms.append(_synonym(key.broker_keys[0].name, key.default, Source.DEFAULT))
    source = Source(synonyms[0]["source"]) if synonyms else Source.DEFAULT
    return _entry(key.name, value, source, _type(key), synonyms)


def _type(key: TopicKey) -> ConfigType:
    if key.kind == "int":
        return ConfigType.INT if key.most == INT32_MAX else ConfigType.LONG
    return _KINDS[key.kind]


def broker_entries(config: BrokerConfig, wanted: Collection[str] | None) -> list[Entry]:
    """A broker's own settings. None can be changed while it runs."""
    entries = []
    for name, default in sorted(known_keys().items()):
        if wanted is not None and name not in wanted:
            continue
        value = getattr(config, name.replace(".", "_"))
        synonyms = []
        if name in config.raw:
            synonyms.append(_synonym(name, config.raw[name], Source.STATIC_BROKER))
        if default is not None:
            synonyms.append(_synonym(name, _text(default), Source.DEFAULT))
        source = Source.STATIC_BROKER if name in config.raw else Source.DEFAULT
        kind = _type_of(value)
        entries.append(_entry(name, _text(value), source, kind, synonyms, read_only=True))
    for name in _LISTENER_KEYS:
        if wanted is None or name in wanted:
            entries.append(_listener_entry(name, config.raw.get(name)))
    return entries


def _listener_entry(name: str, text: str | None) -> Entry:
    if text is None:
        return _entry(name, None, Source.DEFAULT, ConfigType.STRING, [], read_only=True)
    synonyms = [_synonym(name, text, Source.STATIC_BROKER)]
    return _entry(name, text, Source.STATIC_BROKER, ConfigType.STRING, synonyms, read_only=True)


def _entry(
    name: str,
    value: str | None,
    source: Source,
    kind: ConfigType,
    synonyms: list[Entry],
    *,
    read_only: bool = False,
) -> Entry:
    return {
        "name": name,
        "value": value,
        "read_only": read_only,
        "config_source": int(source),
        "is_sensitive": False,
        "synonyms": synonyms,
        "config_type": int(kind),
        "documentation": DOCUMENTATION.get(name),
    }


def _synonym(name: str, value: str, source: Source) -> Entry:
    return {"name": name, "value": value, "source": int(source)}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value)


def _type_of(value: Any) -> ConfigType:
    if isinstance(value, bool):
        return ConfigType.BOOLEAN
    if isinstance(value, int):
        return ConfigType.INT if abs(value) <= INT32_MAX else ConfigType.LONG
    if isinstance(value, float):
        return ConfigType.DOUBLE
    return ConfigType.LIST if isinstance(value, tuple) else ConfigType.STRING
