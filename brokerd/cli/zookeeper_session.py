"""A session with ZooKeeper, for the commands with --zookeeper. Its credentials, if it requires
some, are in the JAAS file that KAFKA_OPTS names, as for Kafka's tools."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brokerd.cli.options import CliError

TIMEOUT_S = 10.0


@contextmanager
def session(connect: str, problem: str) -> Iterator[Any]:
    """A connected kazoo client. Errors inside become a CliError: ZooKeeper at … `problem`: why."""
    from kazoo.exceptions import KazooException  # only these commands need ZooKeeper's client
    from kazoo.handlers.threading import KazooTimeoutError

    from brokerd.cluster.zookeeper.kazoo_client import Client, why_unreachable
    from brokerd.cluster.zookeeper.zk_data import NodeFormatError
    from brokerd.cluster.zookeeper.zookeeper_client import NOT_LET_IN

    client = Client(connect, round(TIMEOUT_S * 1000), credentials=_credentials())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no such chroot is reported below
            client.start(timeout=TIMEOUT_S)
        yield client
    except KazooTimeoutError:
        raise CliError(
            f"ZooKeeper at {connect} did not answer within {TIMEOUT_S:.0f} s"
            f"{f' ({client.refusal})' if client.refusal else why_unreachable(connect)}"
        ) from None
    except NOT_LET_IN:
        raise CliError(
            f"ZooKeeper at {connect} wants credentials, or others: name a JAAS file of its brokers "
            "by KAFKA_OPTS=-Djava.security.auth.login.config=FILE"
        ) from None
    except (KazooException, NodeFormatError) as error:
        what = str(error) or type(error).__name__
        raise CliError(f"ZooKeeper at {connect} {problem}: {what}") from None
    finally:
        client.stop()
        client.close()


def _credentials() -> Any:
    from brokerd.security import jaas

    try:
        return jaas.of_environment(os.environ)
    except jaas.JaasError as error:
        raise CliError(f"KAFKA_OPTS: {error}") from None


def acl_for(client: Any, path: str) -> Any:
    """The ACL of a node that a command creates: with credentials, that of brokers' nodes."""
    from brokerd.cluster.zookeeper import default_acls

    return default_acls.default_acls(path) if client.has_credentials else None
