"""The Django app `console.alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "console.alerts"

    def ready(self) -> None:
        from console.alerts import alert_lists
        from console.live.registry import Fragment, register
        from console.ui.table_query import TABLE_PARAMS

        for name, template, context in (
            ("alerts", "alerts/table.html", alert_lists.alerts),
            ("rules", "alerts/rules_table.html", alert_lists.rules),
            ("deliveries", "alerts/deliveries_table.html", alert_lists.deliveries),
        ):
            register(
                name, Fragment("alert.view", template, context, TABLE_PARAMS, shows_alerts=True)
            )
