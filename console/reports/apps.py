"""The Django app `console.reports`."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "console.reports"

    def ready(self) -> None:
        from console.live.registry import Fragment, register
        from console.reports import tables

        params = ("q", "sort", "page")
        register("reports", Fragment("report.view", "reports/table.html", tables.reports, params))
