from django.urls import path

from console.topics import action_views, bulk_views, views

_TOPICS = "c/<slug:cluster>/topics"
_TOPIC = f"{_TOPICS}/<str:topic>"

urlpatterns = [
    path(_TOPICS, views.index, name="topics"),
    # Not under topics/: there it would be a topic's name.
    path("c/<slug:cluster>/create-topic", action_views.plan_create, name="topic-create"),
    path("c/<slug:cluster>/change-topics", bulk_views.change_selection, name="topics-change"),
    path(_TOPIC, views.overview, name="topic"),
    path(f"{_TOPIC}/config", views.config, name="topic-config"),
    path(f"{_TOPIC}/consumers", views.consumers, name="topic-consumers"),
    path(f"{_TOPIC}/add-partitions", action_views.plan_add_partitions, name="topic-add-partitions"),
    path(f"{_TOPIC}/configure", action_views.plan_configure, name="topic-configure"),
    path(f"{_TOPIC}/purge", action_views.plan_purge, name="topic-purge"),
    path(f"{_TOPIC}/delete", action_views.plan_delete, name="topic-delete"),
]
