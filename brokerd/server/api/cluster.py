"""DescribeCluster: the live brokers."""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode
from brokerd.protocol.acl_operations import CLUSTER_OPERATIONS, NOT_ASKED
from brokerd.server.requests.context import Fields, RequestContext, error_part

BROKERS, CONTROLLERS = 1, 2


@dataclass(frozen=True, slots=True)
class ClusterHandlers:
    image: MetadataImage

    def describe_cluster(self, context: RequestContext, request: Any) -> Fields:
        """The live brokers by their endpoints on the listener that the request came in on."""
        endpoint_type = getattr(request, "endpoint_type", BROKERS)
        if endpoint_type != BROKERS:
            code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
            if endpoint_type == CONTROLLERS:
                code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
            return {
                "error_code": int(code),
                "error_message": "This endpoint describes brokers only.",
            }
        image = self.image
        brokers = []
        for broker_id, info in sorted(image.brokers.items()):
            endpoint = info.endpoints.get(context.listener)
            if endpoint is None:
                continue
            brokers.append(
                {
                    "broker_id": broker_id,
                    "host": endpoint[0],
                    "port": endpoint[1],
                    "rack": info.rack,
                }
            )
        asked = request.include_cluster_authorized_operations
        return {
            **error_part(),
            "endpoint_type": BROKERS,
            "cluster_id": image.cluster_id,
            "controller_id": image.controller_id,
            "brokers": brokers,
            "cluster_authorized_operations": CLUSTER_OPERATIONS if asked else NOT_ASKED,
        }
