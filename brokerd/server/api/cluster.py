"""DescribeCluster: the live brokers. UpdateFeatures: over ZooKeeper no feature has a level that can
change (KIP-584)."""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode
from brokerd.protocol.acl_operations import CLUSTER_OPERATIONS, NOT_ASKED
from brokerd.server.requests.request_context import Fields, RequestContext, error_part

BROKERS, CONTROLLERS = 1, 2


@dataclass(frozen=True, slots=True)
class ClusterHandlers:
    cluster: BrokerLifecycle

    def describe_cluster(self, context: RequestContext, request: Any) -> Fields:
        """The live brokers by their endpoints on the listener that the request came in on."""
        endpoint_type = getattr(request, "endpoint_type", BROKERS)
        if endpoint_type != BROKERS:
            code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
            if endpoint_type == CONTROLLERS:
                code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
            message = "This endpoint describes brokers only."
            return {"error_code": int(code), "error_message": message}
        image, listener = self.cluster.image, context.listener
        brokers = []
        for broker_id, info in sorted(image.brokers.items()):
            if listener in info.endpoints:
                host, port = info.endpoints[listener]
                rack = info.rack
                brokers.append({"broker_id": broker_id, "host": host, "port": port, "rack": rack})
        asked = request.include_cluster_authorized_operations
        return {
            **error_part(),
            "endpoint_type": BROKERS,
            "cluster_id": image.cluster_id,
            "controller_id": image.controller_id,
            "brokers": brokers,
            "cluster_authorized_operations": CLUSTER_OPERATIONS if asked else NOT_ASKED,
        }

    def update_features(self, context: RequestContext, request: Any) -> Fields:
        """INVALID_REQUEST for each feature; as Kafka's controller in ZooKeeper mode."""
        self.cluster.require_controller()
        error = {
            "error_code": int(ErrorCode.INVALID_REQUEST),
            "error_message": "This broker supports no feature of that name.",
        }
        names = dict.fromkeys(update.feature for update in request.feature_updates)
        return {**error_part(), "results": [{"feature": name, **error} for name in names]}
