"""The Django app `console.brokers`."""

from django.apps import AppConfig


class BrokersConfig(AppConfig):
    name = "console.brokers"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.brokers import broker_list, broker_page
        from console.brokers.actions.configure import ConfigureBroker
        from console.brokers.actions.set_log_level import SetLogLevel
        from console.live.registry import Fragment
        from console.live.registry import register as register_fragment
        from console.ui.table_query import TABLE_PARAMS

        register(ConfigureBroker())
        register(SetLogLevel())
        register_fragment(
            "brokers",
            Fragment("broker.view", "brokers/list_content.html", broker_list.context, TABLE_PARAMS),
        )
        register_fragment(
            "broker", Fragment("broker.view", "brokers/broker_content.html", broker_page.context)
        )
