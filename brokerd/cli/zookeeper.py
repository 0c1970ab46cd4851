"""A session with ZooKeeper, for the few commands that can be told to look there."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brokerd.cli.options import CliError

TIMEOUT_S = 10.0


@contextmanager
def session(connect: str, otherwise: str) -> Iterator[Any]:
    """kazoo's client, connected. Whatever fails inside is a CliError that says `otherwise` of that
    ZooKeeper, and why."""
    from kazoo.exceptions import KazooException  # only these commands need ZooKeeper's client
    from kazoo.handlers.threading import KazooTimeoutError

    from brokerd.cluster.codecs import NodeFormatError
    from brokerd.cluster.kazoo_client import Client, why_unreachable

    client = Client(connect, round(TIMEOUT_S * 1000))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no such chroot is told below
            client.start(timeout=TIMEOUT_S)
        yield client
    except KazooTimeoutError:
        raise CliError(
            f"ZooKeeper at {connect} did not answer within {TIMEOUT_S:.0f} s"
            f"{why_unreachable(connect)}"
        ) from None
    except (KazooException, NodeFormatError) as error:
        what = str(error) or type(error).__name__
        raise CliError(f"ZooKeeper at {connect} {otherwise}: {what}") from None
    finally:
        client.stop()
        client.close()
