"""The Django app `console.topics`."""

from django.apps import AppConfig


class TopicsConfig(AppConfig):
    name = "console.topics"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.topics.changes.add_partitions import AddPartitions
        from console.topics.changes.create import CreateTopic
        from console.topics.changes.delete import DeleteTopic

        register(CreateTopic())
        register(AddPartitions())
        register(DeleteTopic())
