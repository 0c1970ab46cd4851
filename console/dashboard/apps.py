"""The Django app `console.dashboard`."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "console.dashboard"

    def ready(self) -> None:
        from console.dashboard import services
        from console.live import registry

        fragment = registry.Fragment("cluster.view", "dashboard/live.html", services.context)
        registry.register("dashboard", fragment)
