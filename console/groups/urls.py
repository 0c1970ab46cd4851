import re

from django.urls import path, register_converter

from console.groups import action_views, views


class GroupName:
    """A URL path converter for names of groups, which can be any text, even empty.

    Characters that are not safe in a path are written as "~" and two hex digits: slashes and
    control characters, which proxies may change or refuse, and the dots of "." and "..", which
    browsers treat as folders. "~" alone is the empty name. A literal slash is accepted.
    """

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        if value == "~":
            return ""
        return re.sub("~([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), value)

    def to_url(self, value: str) -> str:
        unsafe = r"\." if value in (".", "..") else r"[~/\\\x00-\x1f\x7f]"
        return re.sub(unsafe, lambda found: f"~{ord(found[0]):02X}", value) or "~"


register_converter(GroupName, "group_name")

urlpatterns = [
    path("c/<slug:cluster>/groups", views.index, name="groups"),
    path("c/<slug:cluster>/groups/<group_name:group>", views.detail, name="group"),
    # Not below "groups/": a group's name can end in "/reset".
    path(
        "c/<slug:cluster>/group-reset/<group_name:group>",
        action_views.plan_reset,
        name="group-reset",
    ),
    path(
        "c/<slug:cluster>/group-reset-preview/<group_name:group>",
        action_views.preview_reset,
        name="group-reset-preview",
    ),
    path(
        "c/<slug:cluster>/group-offsets-delete/<group_name:group>",
        action_views.plan_delete_offsets,
        name="group-offsets-delete",
    ),
    path(
        "c/<slug:cluster>/group-delete/<group_name:group>",
        action_views.plan_delete,
        name="group-delete",
    ),
]
