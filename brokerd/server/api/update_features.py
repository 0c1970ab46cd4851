"""UpdateFeatures: over ZooKeeper there are no features whose level could be changed (KIP-584)."""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode
from brokerd.server.requests.context import Fields, RequestContext, error_part


@dataclass(frozen=True, slots=True)
class UpdateFeaturesHandler:
    cluster: BrokerLifecycle

    def update_features(self, context: RequestContext, request: Any) -> Fields:
        """INVALID_REQUEST for each feature; as Kafka's controller in ZooKeeper mode."""
        self.cluster.require_controller()
        return {
            **error_part(),
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
