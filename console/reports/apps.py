"""The Django app `console.reports`."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "console.reports"

    def ready(self) -> None:
        from console.live.registry import Fragment, register
        from console.reports import report_list
        from console.ui.table_query import TABLE_PARAMS

        register(
            "reports",
            Fragment("report.view", "reports/table.html", report_list.context, TABLE_PARAMS),
        )
