"""Settings of topics and brokers as DescribeConfigs returns them: value, source, synonyms, type,
documentation.

As in Kafka's ConfigHelper, the synonyms of a setting are the settings from which its value may
come, the one in force first. Those before the first synonym with the setting's own name are left
out: so log.retention.ms has none if it was not set, although log.retention.hours has a default.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from brokerd.config.all_dynamic_configs import known_setting
from brokerd.config.broker_config import INTERNAL, known_keys
from brokerd.config.described_defaults import DEFAULTS, FIXED, default_text
from brokerd.config.dynamic_broker_config import DYNAMIC_ONLY, DynamicBrokerConfig, is_read_only
from brokerd.config.log_config import TOPIC_KEYS, WITHOUT_EFFECT, TopicKey, effective_values
from brokerd.config.setting_documentation import (
    BROKER_DOCUMENTATION,
    KEPT_DOCUMENTATION,
    TOPIC_DOCUMENTATION,
)
from brokerd.config.ssl_configs import PREFIX
from brokerd.config.value_parsers import ConfigSource, ConfigType, comma_list, java_double, words

Entry = dict[str, Any]
NAMES_MAX = 1024


_SYNONYMS = {
    each.name: tuple(other.name for other in key.broker_keys)
    for key in TOPIC_KEYS.values()
    for each in key.broker_keys
    if each.name != "log.flush.scheduler.interval.ms"  # which is a setting of its own, too
}
_STATIC_NAMES = {"node.id": "broker.id"}
"""Settings that are returned with the value of another one of the properties file."""
_FIXED_DOCUMENTATION = "This broker has no other value; a change has no effect."
_FOR_TOPICS = {each.name: key.name for key in TOPIC_KEYS.values() for each in key.broker_keys}


def topic_entries(
    config: Mapping[str, str], settings: DynamicBrokerConfig, wanted: Collection[str] | None
) -> list[Entry]:
    """The settings of a topic with its own `config`; `wanted` names those asked for (None: all)."""
    values = effective_values(settings.texts(), config)
    entries = [
        _topic_entry(key, values[name], config, settings)
        for name, key in TOPIC_KEYS.items()
        if wanted is None or name in wanted
    ]
    entries += [
        _kept_entry(name, config, settings)
        for name in sorted(WITHOUT_EFFECT)
        if wanted is None or name in wanted
    ]
    return entries


def _topic_entry(
    key: TopicKey, text: str, config: Mapping[str, str], settings: DynamicBrokerConfig
) -> Entry:
    synonyms = _topic_synonyms(key.name, key.type, key.broker_keys[0].name, config, settings)
    documentation = TOPIC_DOCUMENTATION.get(key.name)
    return _entry(key.name, _normal(key.type, text), key.type, synonyms, documentation)


def _kept_entry(name: str, config: Mapping[str, str], settings: DynamicBrokerConfig) -> Entry:
    kept = WITHOUT_EFFECT[name]
    synonyms = _topic_synonyms(name, kept.type, kept.broker_key, config, settings)
    value = synonyms[0]["value"] if synonyms else kept.default
    return _entry(name, value, kept.type, synonyms, KEPT_DOCUMENTATION)


def _topic_synonyms(
    name: str,
    kind: ConfigType,
    broker_key: str,
    config: Mapping[str, str],
    settings: DynamicBrokerConfig,
) -> list[Entry]:
    source = ConfigSource.DYNAMIC_TOPIC_CONFIG
    own = [_synonym(name, _normal(kind, config[name]), source)] if name in config else []
    return own + (_broker_synonyms(broker_key, settings) if broker_key else [])


def broker_entries(settings: DynamicBrokerConfig, wanted: Collection[str] | None) -> list[Entry]:
    """Every setting that has an effect, and dynamic settings that were set without one."""
    dynamic = (settings.defaults.keys() | settings.own.keys()) - DYNAMIC_ONLY
    names = known_keys().keys() - INTERNAL | DEFAULTS.keys() | settings.static.raw.keys() | dynamic
    return [
        _broker_entry(name, _broker_synonyms(name, settings))
        for name in sorted(names)
        if wanted is None or name in wanted
    ]


def default_entries(settings: DynamicBrokerConfig, wanted: Collection[str] | None) -> list[Entry]:
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    return [
        _broker_entry(name, [each for each in synonyms if each["source"] == source])
        for name in sorted(settings.defaults)
        if wanted is None or name in wanted
        for synonyms in [_broker_synonyms(name, settings)]
    ]


def _broker_entry(name: str, synonyms: list[Entry]) -> Entry:
    kind = _broker_type(name)
    first = synonyms[0] if synonyms else None
    text = first["value"] if first and first["name"] == name else None
    value = None if text is None else _normal(kind, text)
    entry = _entry(name, value, kind, synonyms, _broker_documentation(name))
    # Kafka describes what is said of one listener as read only, though it takes it.
    of_listener = name.startswith(PREFIX)
    entry["read_only"] = is_read_only(name) or of_listener or kind is ConfigType.UNKNOWN
    return entry


def _broker_documentation(name: str) -> str | None:
    if name in BROKER_DOCUMENTATION:
        return BROKER_DOCUMENTATION[name]
    if name in FIXED:
        return _FIXED_DOCUMENTATION
    topic_name = _FOR_TOPICS.get(name)
    if topic_name is None:
        return None
    documentation = TOPIC_DOCUMENTATION[topic_name]
    return f"What holds for topics without {topic_name} of their own. {documentation}"


@lru_cache(NAMES_MAX)
def _broker_type(name: str) -> ConfigType:
    known = known_setting(name)
    if known is not None:
        return known.type
    default = known_keys().get(name)
    if isinstance(default, int):
        return ConfigType.INT
    return ConfigType.UNKNOWN if default is None else ConfigType.STRING


def _broker_synonyms(name: str, settings: DynamicBrokerConfig) -> list[Entry]:
    """Each source that sets `name` or another name of the same setting, those in force first."""
    is_secret = _is_secret(_broker_type(name))
    names, static = _names(name), settings.static.raw
    places: Sequence[tuple[ConfigSource, Callable[[str], str | None]]] = (
        (ConfigSource.DYNAMIC_BROKER_CONFIG, settings.own.get),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, settings.defaults.get),
        (ConfigSource.STATIC_BROKER_CONFIG, lambda each: static.get(_STATIC_NAMES.get(each, each))),
        (ConfigSource.DEFAULT_CONFIG, default_text),
    )
    found = [
        _synonym(each, None if is_secret else text, source)
        for source, get in places
        for each in names
        for text in [get(each)]
        if text is not None
    ]
    own = next((i for i, each in enumerate(found) if each["name"] == name), len(found))
    return found[own:]


def _names(name: str) -> Sequence[str]:
    """The names of one setting; the name for one listener takes precedence."""
    if not name.startswith(PREFIX):
        return _SYNONYMS.get(name, (name,))
    _, _, of_all = name.removeprefix(PREFIX).partition(".")
    return (name, *_SYNONYMS.get(of_all, (of_all,)))


def _entry(
    name: str, value: str | None, kind: ConfigType, synonyms: list[Entry], documentation: str | None
) -> Entry:
    source = synonyms[0]["source"] if synonyms else ConfigSource.DEFAULT_CONFIG
    return {
        "name": name,
        "value": None if _is_secret(kind) else value,
        "read_only": False,
        "config_source": int(source),
        "is_sensitive": _is_secret(kind),
        "synonyms": synonyms,
        "config_type": int(kind),
        "documentation": documentation,
    }


def _is_secret(kind: ConfigType) -> bool:
    """A setting of unknown type may be a password, too."""
    return kind in (ConfigType.PASSWORD, ConfigType.UNKNOWN)


def _synonym(name: str, value: str | None, source: ConfigSource) -> Entry:
    return {"name": name, "value": value, "source": int(source)}


def _normal(kind: ConfigType, text: str) -> str:
    """The text that Java would write for the value of `text`."""
    text = text.strip()
    try:
        if kind is ConfigType.BOOLEAN:
            return text.lower()
        if kind in (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG):
            return str(int(text))
        if kind is ConfigType.DOUBLE:
            return java_double(float(text))
    except ValueError:
        return text
    if kind is ConfigType.LIST:
        return comma_list(words(text))
    return text
