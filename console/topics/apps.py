"""The Django app `console.topics`."""

from django.apps import AppConfig


class TopicsConfig(AppConfig):
    name = "console.topics"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.live.registry import Fragment
        from console.live.registry import register as register_fragment
        from console.topics import topic_list, topic_page
        from console.topics.actions.add_partitions import AddPartitions
        from console.topics.actions.bulk import ConfigureTopics, DeleteTopics, PurgeTopics
        from console.topics.actions.configure import ConfigureTopic
        from console.topics.actions.create import CreateTopic
        from console.topics.actions.delete import DeleteTopic
        from console.topics.actions.purge import PurgeTopic
        from console.topics.plan_outcome_texts import TEXTS
        from console.ui.table_query import TABLE_PARAMS
        from monitoring.error_reason import add_texts

        add_texts(TEXTS)
        register(CreateTopic())
        register(AddPartitions())
        register(ConfigureTopic())
        register(PurgeTopic())
        register(DeleteTopic())
        register(ConfigureTopics())
        register(PurgeTopics())
        register(DeleteTopics())
        for name, verb, template, context, params in (
            (
                "topics",
                "topic.view",
                "topics/table.html",
                topic_list.context,
                (*TABLE_PARAMS, "internal", "columns", "show"),
            ),
            ("topic", "topic.view", "topics/partitions.html", topic_page.partitions, TABLE_PARAMS),
            ("readers", "group.view", "topics/readers.html", topic_page.readers, TABLE_PARAMS),
        ):
            register_fragment(name, Fragment(verb, template, context, params))
