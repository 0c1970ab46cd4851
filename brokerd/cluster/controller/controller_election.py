"""Who is controller (Kafka's KafkaController.elect): the ephemeral node `/controller`, fenced by
`/controller_epoch`. A candidate creates the node and raises the epoch in one multi. Every later
write of a controller is a multi that checks the version of `/controller_epoch`.
"""

import logging
from contextlib import suppress
from typing import NamedTuple

from kazoo.exceptions import BadVersionError, NodeExistsError

from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.multi_operations import Create, SetData
from brokerd.cluster.zookeeper.zk_data import (
    decode_controller,
    decode_controller_epoch,
    encode_controller,
)
from brokerd.cluster.zookeeper.zookeeper_client import MultiError, Watch, ZooKeeper

logger = logging.getLogger(__name__)


class ControllerEpoch(NamedTuple):
    """The epoch of a controller, and the version of `/controller_epoch`, which writes check."""

    epoch: int
    version: int


class ElectedController(NamedTuple):
    """Who is controller; `own_epoch` is the epoch if this session is the controller, else None."""

    broker_id: int
    epoch: int
    own_epoch: ControllerEpoch | None


async def find_or_elect(
    zookeeper: ZooKeeper, broker_id: int, now_ms: int, watch: Watch
) -> ElectedController:
    """The controller; if there is none, this session tries to become it."""
    while True:
        epoch, version = await _epoch(zookeeper)
        node = await zookeeper.get(paths.CONTROLLER, watch)
        if node is not None:
            data, stat = node
            is_mine = stat.ephemeralOwner == zookeeper.session[0]
            own_epoch = ControllerEpoch(epoch, version) if is_mine else None
            return ElectedController(decode_controller(data), epoch, own_epoch)
        try:
            await zookeeper.multi(
                [
                    Create(paths.CONTROLLER, encode_controller(broker_id, now_ms), ephemeral=True),
                    SetData(paths.CONTROLLER_EPOCH, str(epoch + 1).encode(), version),
                ]
            )
            logger.info("broker %d is elected controller, epoch %d", broker_id, epoch + 1)
        except MultiError as error:
            if not isinstance(error.cause, NodeExistsError | BadVersionError):
                raise


async def _epoch(zookeeper: ZooKeeper) -> tuple[int, int]:
    while True:
        node = await zookeeper.get(paths.CONTROLLER_EPOCH)
        if node is not None:
            return decode_controller_epoch(node[0]), node[1].version
        with suppress(NodeExistsError):
            await zookeeper.create(paths.CONTROLLER_EPOCH, b"0")
