"""Which changes of a broker's listeners clients may make while it runs (in Kafka
DynamicListenerConfig.validateReconfiguration, which permits more).

Nobody is authenticated yet, so whoever may connect may change settings. A listener that is added
then must not let in more than those of the properties file do, lead clients elsewhere, or take the
place of one of the file; those of the file stay as they are there. What is refused here can be
written into the properties file.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeVar

from brokerd.config.broker_config import BrokerConfig
from brokerd.config.ssl_configs import SslConfigs, Store

ADDED_MAX = 16
"""So many listeners may be there besides those of the file: each takes a socket."""
IN_THE_FILE = (
    "While clients are not authenticated, this is read from the broker's properties file only: set"
    " it there and restart the broker"
)
_LOCAL = "localhost"
T = TypeVar("T")


def listener_problems(static: BrokerConfig, wanted: BrokerConfig) -> list[str]:
    """What is wrong with new or changed listeners, before names are looked up."""
    found = [
        *_changed(static, wanted),
        *_added(static, wanted),
        *_advertised_elsewhere(static, wanted),
    ]
    return [f"{'; '.join(found)}. {IN_THE_FILE}"] if found else []


def _changed(static: BrokerConfig, wanted: BrokerConfig) -> Iterator[str]:
    bound = {each.name: each for each in wanted.listeners}
    for each in static.listeners:
        if bound.get(each.name) != each:
            yield f"listeners: {each} is of the properties file and stays as it is there"
        elif not _requires_as_much(wanted.tls.get(each.name), static.tls.get(each.name)):
            yield f"listener.name.{each.name.lower()}.ssl: who may come in stays as in the file"
    for name, advertised in static.advertised_listeners.items():
        if wanted.advertised_listeners.get(name) != advertised:
            unchanged = "is of the properties file and stays as it is there"
            yield f"advertised.listeners: {advertised} {unchanged}"


def _added(static: BrokerConfig, wanted: BrokerConfig) -> Iterator[str]:
    names = {each.name for each in static.listeners}
    added = [each for each in wanted.listeners if each.name not in names]
    if len(added) > ADDED_MAX:
        yield f"listeners: {len(added)} besides those of the properties file, {ADDED_MAX} may be"
    hosts = {each.host for each in static.listeners}
    for each in added:
        if address(each.host) is None and each.host not in {*hosts, _LOCAL}:
            yield f"listeners: {each} has a name that no listener of the properties file has"


def _advertised_elsewhere(static: BrokerConfig, wanted: BrokerConfig) -> Iterator[str]:
    advertised = static.advertised_listeners
    hosts = {each.host for each in (*static.listeners, *advertised.values())}
    bound = {each.name: each for each in wanted.listeners}
    for name, each in wanted.advertised_listeners.items():
        if name in advertised:
            continue
        at = bound[name]
        is_host = each.host in hosts or (address(at.host) and each.host == at.host)
        is_local = _is_loopback(each.host) and _is_loopback(at.host)
        if not (is_host or is_local) or each.port not in (at.port, 0):
            yield f"advertised.listeners: {each} leads clients to another host or port than {at}"


def reaches_further(
    static: BrokerConfig, tls: SslConfigs | None, bound_to: str, find: Callable[[str], str]
) -> bool:
    """Whether a listener at this address may let in a client that no listener of the file lets in.
    It does not if the file has a listener that everybody who reaches this address reaches, too, and
    that wants no certificate which this one does not want. `find` looks up names."""
    return not any(
        _covers(find(each.host), bound_to) and _requires_as_much(tls, static.tls.get(each.name))
        for each in static.listeners
    )


def _covers(wide: str, narrow: str) -> bool:
    """Whether whoever reaches `narrow` also reaches `wide`: loopback is narrower than one address
    of the machine, and that is narrower than any address."""
    outer, inner = address(wide), address(narrow)
    if outer is None or inner is None:
        return False
    if inner.is_loopback:
        return True
    if outer.is_unspecified:
        return outer.version == 6 or inner.version == 4  # `::` takes IPv4, too
    return outer == inner


def _requires_as_much(tls: SslConfigs | None, of_file: SslConfigs | None) -> bool:
    """Whether clients need the same certificates as at that of the file, where it wants some."""
    required = _required_truststore(of_file)
    return required is None or _required_truststore(tls) == required


def _required_truststore(tls: SslConfigs | None) -> Store | None:
    return tls.truststore if tls is not None and tls.client_auth == "required" else None


def address(host: str) -> IPv4Address | IPv6Address | None:
    """The address in the setting, an empty one being any; None for a name."""
    try:
        found = ip_address(host or "0.0.0.0")
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_loopback(host: str) -> bool:
    found = address(host)
    return host == _LOCAL if found is None else found.is_loopback


def with_barred_dirs(static: BrokerConfig, wanted: BrokerConfig) -> BrokerConfig:
    """The same, but a store whose file the properties file does not name must not lie in a log
    directory, where clients could have written it (`Store.barred_dirs`)."""

    named = {text for name, text in static.raw.items() if name.endswith(".location")}

    def barred(store: Store) -> Store:
        is_of_file = store.location in {"", *named}
        return store if is_of_file else replace(store, barred_dirs=static.log_dirs)

    return replace(
        wanted,
        tls={
            name: replace(each, keystore=barred(each.keystore), truststore=barred(each.truststore))
            for name, each in wanted.tls.items()
        },
    )


def with_listener_of(config: BrokerConfig, other: BrokerConfig, name: str) -> BrokerConfig:
    """The settings with this listener as it is in others: without it, where they have none."""

    def merged(ours: Mapping[str, T], theirs: Mapping[str, T]) -> dict[str, T]:
        kept = {key: value for key, value in ours.items() if key != name}
        return kept | ({name: theirs[name]} if name in theirs else {})

    bound, of_other = ({e.name: e for e in each.listeners} for each in (config, other))
    return replace(
        config,
        listeners=tuple(merged(bound, of_other).values()),
        advertised_listeners=merged(config.advertised_listeners, other.advertised_listeners),
        tls=merged(config.tls, other.tls),
    )
