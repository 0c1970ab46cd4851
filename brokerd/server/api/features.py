"""UpdateFeatures: over ZooKeeper there are no features whose level could be changed (KIP-584)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.requests.context import Fields, Handler, RequestContext

if TYPE_CHECKING:
    from brokerd.cluster.cluster_client import ClusterClient


@dataclass(frozen=True, slots=True)
class FeatureHandler:
    """See the module."""

    cluster: ClusterClient

    def table(self) -> dict[ApiKey, Handler]:
        return {ApiKey.UPDATE_FEATURES: self.update_features}

    def update_features(self, context: RequestContext, request: Any) -> Fields:
        """INVALID_REQUEST for each feature; as Kafka's controller in ZooKeeper mode."""
        self.cluster.require_controller()
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
