"""The URLs of the console; each app has its own urls.py.

URLs of a cluster begin with `/c/<cluster>/`; ClusterMiddleware sets `request.cluster` from the
slug.
"""

from django.urls import URLPattern, URLResolver, include, path, register_converter

from console.health import metrics_view
from console.health import views as health
from console.ui.url_converters import AnyNameConverter

register_converter(AnyNameConverter, "any_name")  # before the URLs of apps, which use it

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics_view.metrics, name="metrics"),
    path("", include("console.layout.urls")),
    path("", include("console.ui.urls")),
    path("", include("console.accounts.urls")),
    path("", include("console.clusters.urls")),
    path("", include("console.audit.urls")),
    path("", include("console.egress.urls")),
    path("", include("console.search.urls")),
    path("", include("console.live.urls")),
    path("", include("console.dashboard.urls")),
    path("", include("console.brokers.urls")),
    path("", include("console.topics.urls")),
    path("", include("console.reassignments.urls")),
    path("", include("console.quotas.urls")),
    path("", include("console.schemas.urls")),
    path("", include("console.records.urls")),
    path("", include("console.produce.urls")),
    path("", include("console.segments.urls")),
    path("", include("console.groups.urls")),
    path("", include("console.charts.urls")),
    path("", include("console.actions.urls")),
    path("", include("console.alerts.urls")),
    path("", include("console.reports.urls")),
    path("", include("console.pipeline.urls")),
    path("", include("console.saved_queries.urls")),
]

handler400 = "console.layout.error_pages.bad_request"
handler403 = "console.layout.error_pages.forbidden"
handler404 = "console.layout.error_pages.not_found"
handler500 = "console.layout.error_pages.failed"
