from django.urls import path, register_converter

from console.groups import views


class GroupName:
    """Any text: Kafka does not restrict the names of groups, not even to one line."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(GroupName, "group_name")

urlpatterns = [
    path("c/<slug:cluster>/groups", views.index, name="groups"),
    path("c/<slug:cluster>/group-lag", views.lag, name="group-lag"),
    path("c/<slug:cluster>/groups/<group_name:group>", views.detail, name="group"),
]
