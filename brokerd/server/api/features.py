"""UpdateFeatures: over ZooKeeper there are no features whose level could be changed (KIP-584)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.requests.context import Fields, Handler, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


def update_features(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """INVALID_REQUEST for each feature; as Kafka's controller in ZooKeeper mode."""
    if not broker.cluster.is_controller:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, "This is not the controller of the cluster.")
    return {
        "error_code": 0,
        "error_message": None,
        "results": [
            {
                "feature": name,
                "error_code": int(ErrorCode.INVALID_REQUEST),
                "error_message": "This broker supports no feature of that name."
                if name
                else "The name of a feature is empty.",
            }
            for name in dict.fromkeys(update.feature for update in request.feature_updates)
        ],
    }


HANDLERS: dict[ApiKey, Handler] = {ApiKey.UPDATE_FEATURES: update_features}
