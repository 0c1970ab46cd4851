"""The Django app `console.groups`."""

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "console.groups"

    def ready(self) -> None:
        from console.actions.registry import register as register_action
        from console.groups import group_list, group_page
        from console.groups.actions.delete import DeleteGroup
        from console.groups.actions.reset_offsets import ResetOffsets
        from console.live.registry import Fragment, register
        from console.ui.table_query import TABLE_PARAMS

        register(
            "groups", Fragment("group.view", "groups/table.html", group_list.context, TABLE_PARAMS)
        )
        register(
            "group",
            Fragment(
                "group.view", "groups/group_content.html", group_page.context, group_page.PARAMS
            ),
        )
        register_action(ResetOffsets())
        register_action(DeleteGroup())
