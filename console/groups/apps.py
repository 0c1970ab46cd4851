"""The Django app `console.groups`."""

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "console.groups"

    def ready(self) -> None:
        from console.groups import services
        from console.live import registry

        fragment = registry.Fragment("group.view", "groups/live.html", services.context)
        registry.register("group", fragment)
