"""Every API that is served by a handler, joined from the modules that hold them."""

from brokerd.server.context import ColdHandler
from brokerd.server.dispatch import join_tables
from brokerd.server.handlers import (
    cluster,
    configs,
    group_offsets,
    groups,
    metadata,
    offsets,
    producers,
    topics,
)

HANDLERS: dict[int, ColdHandler] = join_tables(
    metadata.HANDLERS,
    offsets.HANDLERS,
    producers.HANDLERS,
    topics.HANDLERS,
    configs.HANDLERS,
    cluster.HANDLERS,
    groups.HANDLERS,
    group_offsets.HANDLERS,
)
