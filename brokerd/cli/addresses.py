"""The addresses of the first brokers: from --bootstrap-server, or from ZooKeeper (--zookeeper)."""

from brokerd.cli import zookeeper_session
from brokerd.cli.options import CliError, Options, UsageError
from brokerd.cluster.zookeeper.paths import BROKER_IDS, broker
from brokerd.cluster.zookeeper.zk_data import decode_broker
from brokerd.config.value_parsers import words

Address = tuple[str, int]
_EXAMPLE = "Please provide valid host:port like host1:9091,host2:9092"


def bootstrap_addresses(options: Options) -> list[Address]:
    """The brokers that the options name, also the older --broker-list. Raises CliError."""
    if getattr(options, "zookeeper", None):
        if options.has("bootstrap-server"):
            raise UsageError('Option "[bootstrap-server]" can\'t be used with option "[zookeeper]"')
        return _from_zookeeper(options.zookeeper)
    text = options.bootstrap_server or getattr(options, "broker_list", None)
    if not text:
        raise UsageError('Missing required argument "[bootstrap-server]"')
    return parse_addresses(text)


def parse_addresses(text: str) -> list[Address]:
    """`host:port,…`, an IPv6 address in brackets. Raises UsageError."""
    addresses = []
    for each in words(text):
        host, _, port = each.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not bare or not port.isdecimal() or not 0 < int(port) < 65536:
            raise UsageError(f"{each} is not host:port. {_EXAMPLE}")
        addresses.append((bare, int(port)))
    if not addresses:
        raise UsageError(_EXAMPLE)
    return addresses


def _from_zookeeper(connect: str) -> list[Address]:
    addresses: list[Address] = []
    with zookeeper_session.session(connect, "names no brokers") as client:
        for broker_id in sorted(client.get_children(BROKER_IDS), key=int):
            data, node = client.get(broker(int(broker_id)))
            addresses += decode_broker(int(broker_id), data, node.czxid).endpoints.values()
    if not addresses:
        raise CliError(f"ZooKeeper at {connect} knows no live broker")
    return addresses
