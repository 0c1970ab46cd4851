"""The Django app `console.groups`."""

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "console.groups"

    def ready(self) -> None:
        from console.groups import fragments, tables
        from console.live.registry import Fragment, register

        params = ("q", "sort", "page")
        register("groups", Fragment("group.view", "groups/table.html", tables.groups, params))
        register("group", Fragment("group.view", "groups/live.html", fragments.context))
