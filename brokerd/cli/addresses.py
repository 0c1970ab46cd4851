"""Which brokers to ask first: from --bootstrap-server, or from ZooKeeper as older tools did."""

import warnings

from brokerd.cli.options import CliError, Options, UsageError, has

Address = tuple[str, int]
ZOOKEEPER_TIMEOUT_S = 10.0
_EXAMPLE = "Please provide valid host:port like host1:9091,host2:9092"


def bootstrap_addresses(options: Options) -> list[Address]:
    """The brokers that the options name. Raises CliError."""
    if getattr(options, "zookeeper", None):
        if has(options, "bootstrap-server"):
            raise UsageError('Option "[bootstrap-server]" can\'t be used with option "[zookeeper]"')
        return _from_zookeeper(options.zookeeper)
    if not options.bootstrap_server:
        raise UsageError('Missing required argument "[bootstrap-server]"')
    return parse_addresses(options.bootstrap_server)


def parse_addresses(text: str) -> list[Address]:
    """`host:port,…`, an IPv6 address in brackets. Raises UsageError."""
    addresses = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        host, _, port = each.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not bare or not port.isdecimal() or not 0 < int(port) < 65536:
            raise UsageError(f"{each} is not host:port. {_EXAMPLE}")
        addresses.append((bare, int(port)))
    if not addresses:
        raise UsageError(_EXAMPLE)
    return addresses


def _from_zookeeper(connect: str) -> list[Address]:
    from kazoo.exceptions import KazooException  # only the older form needs ZooKeeper's client
    from kazoo.handlers.threading import KazooTimeoutError

    from brokerd.cluster.codecs import NodeFormatError, decode_broker
    from brokerd.cluster.kazoo_client import Client, why_unreachable
    from brokerd.cluster.paths import BROKER_IDS, broker

    client = Client(connect, round(ZOOKEEPER_TIMEOUT_S * 1000))
    addresses: list[Address] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no such chroot is told below
            client.start(timeout=ZOOKEEPER_TIMEOUT_S)
        for broker_id in sorted(client.get_children(BROKER_IDS), key=int):
            data, node = client.get(broker(int(broker_id)))
            addresses += decode_broker(int(broker_id), data, node.czxid).endpoints.values()
    except KazooTimeoutError:
        raise CliError(
            f"ZooKeeper at {connect} did not answer within {ZOOKEEPER_TIMEOUT_S:.0f} s"
            f"{why_unreachable(connect)}"
        ) from None
    except (KazooException, NodeFormatError) as error:
        what = str(error) or type(error).__name__
        raise CliError(f"ZooKeeper at {connect} names no brokers: {what}") from None
    finally:
        client.stop()
        client.close()
    if not addresses:
        raise CliError(f"ZooKeeper at {connect} knows no live broker")
    return addresses
