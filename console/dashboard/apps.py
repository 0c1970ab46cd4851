"""The Django app `console.dashboard`."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "console.dashboard"

    def ready(self) -> None:
        from console.dashboard import fragments
        from console.live import registry

        context, template = fragments.context, "dashboard/live.html"
        fragment = registry.Fragment("cluster.view", template, context, shows_alerts=True)
        registry.register("dashboard", fragment)
