"""The Django app `console.alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "console.alerts"

    def ready(self) -> None:
        from console.alerts import alert_lists
        from console.live.registry import Fragment, register

        for name, template, context in (
            ("alerts", "alerts/table.html", alert_lists.alerts),
            ("rules", "alerts/rules_table.html", alert_lists.rules),
            ("deliveries", "alerts/deliveries_table.html", alert_lists.deliveries),
        ):
            params = ("q", "sort", "page")
            register(name, Fragment("alert.view", template, context, params, shows_alerts=True))
