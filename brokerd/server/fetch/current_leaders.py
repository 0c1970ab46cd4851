"""The current leader of a partition, answered with an error so that clients find it (KIP-951)."""

from collections.abc import Iterable

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode
from brokerd.protocol.fetch_response import Endpoint, FetchReply
from brokerd.replication.state import NO_LEADER


def endpoints_of(
    image: MetadataImage, listener: str, replies: Iterable[FetchReply]
) -> list[Endpoint]:
    found = []
    for leader in dict.fromkeys(reply.leader[0] for reply in replies if reply.leader):
        endpoint = image.endpoint(leader, listener)
        if endpoint is not None:
            found.append(Endpoint(leader, *endpoint, image.brokers[leader].rack))
    return found


def with_leader(image: MetadataImage, reply: FetchReply) -> FetchReply:
    """The reply with the partition's current leader."""
    if reply.error not in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
        return reply
    topic = image.names_by_id.get(reply.topic_id)
    state = image.partition(topic, reply.partition) if topic is not None else None
    if state is None or state.leader == NO_LEADER:
        return reply
    return reply._replace(leader=(state.leader, state.leader_epoch))
