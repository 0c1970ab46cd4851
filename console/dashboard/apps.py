"""The Django app `console.dashboard`."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "console.dashboard"

    def ready(self) -> None:
        from console.dashboard import overview
        from console.live import registry

        context, template = overview.context, "dashboard/live.html"
        fragment = registry.Fragment("cluster.view", template, context, shows_alerts=True)
        registry.register("dashboard", fragment)
