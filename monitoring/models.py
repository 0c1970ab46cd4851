"""Every model of the app `monitoring` is reachable from this module, as Django expects.

They hold configuration and results that outlive a tick; samples are in Redis and Parquet.
"""

from monitoring.alerts.models import Alert, AlertDelivery, AlertRule
from monitoring.clusters import Cluster
from monitoring.reports.models import Report

__all__ = ["Alert", "AlertDelivery", "AlertRule", "Cluster", "Report"]
