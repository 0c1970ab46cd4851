"""Every API that is served by a handler, joined from the modules that hold them.

Produce and Fetch are not in this table: the router hands them their bytes directly.
"""

from brokerd.protocol.api_keys import ApiKey
from brokerd.server.api import (
    cluster,
    configs,
    credentials,
    delete_records,
    elect_leaders,
    features,
    group_offsets,
    groups,
    list_offsets,
    metadata,
    producers,
    quotas,
    reassignments,
    security,
    topics,
    transactions,
)
from brokerd.server.requests.context import Handler


def join_tables(*tables: dict[ApiKey, Handler]) -> dict[int, Handler]:
    """One table out of the modules' tables; two handlers for one API are a mistake."""
    joined: dict[int, Handler] = {}
    for table in tables:
        for api_key, handler in table.items():
            if api_key in joined:
                raise ValueError(f"two handlers for {api_key.name}")
            joined[int(api_key)] = handler
    return joined


HANDLERS: dict[int, Handler] = join_tables(
    cluster.HANDLERS,
    configs.HANDLERS,
    credentials.HANDLERS,
    delete_records.HANDLERS,
    elect_leaders.HANDLERS,
    features.HANDLERS,
    group_offsets.HANDLERS,
    groups.HANDLERS,
    metadata.HANDLERS,
    list_offsets.HANDLERS,
    producers.HANDLERS,
    quotas.HANDLERS,
    reassignments.HANDLERS,
    security.HANDLERS,
    topics.HANDLERS,
    transactions.HANDLERS,
)
