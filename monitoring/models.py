"""All models of the app `monitoring`, imported here as Django expects.

The database has configuration, alerts and reports; samples are in Redis and Parquet.
"""

from monitoring.alerts.models import Alert, AlertDelivery, AlertRule
from monitoring.cluster_events.models import ClusterEvent
from monitoring.clusters.models import Cluster
from monitoring.egress.models import EgressTarget
from monitoring.pipeline.models import Backfill, LastBackfill, PipelineRun, PipelineState
from monitoring.reports.models import Report

__all__ = [
    "Alert",
    "AlertDelivery",
    "AlertRule",
    "Backfill",
    "Cluster",
    "ClusterEvent",
    "EgressTarget",
    "LastBackfill",
    "PipelineRun",
    "PipelineState",
    "Report",
]
