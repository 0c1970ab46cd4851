from django.urls import path

from console.groups import action_views, views

urlpatterns = [
    path("c/<slug:cluster>/groups", views.index, name="groups"),
    path("c/<slug:cluster>/groups/<any_name:group>", views.detail, name="group"),
    # Not below "groups/": a group's name can end in "/reset".
    path(
        "c/<slug:cluster>/group-reset/<any_name:group>",
        action_views.plan_reset,
        name="group-reset",
    ),
    path(
        "c/<slug:cluster>/group-reset-preview/<any_name:group>",
        action_views.preview_reset,
        name="group-reset-preview",
    ),
    path(
        "c/<slug:cluster>/group-offsets-delete/<any_name:group>",
        action_views.plan_delete_offsets,
        name="group-offsets-delete",
    ),
    path(
        "c/<slug:cluster>/group-delete/<any_name:group>",
        action_views.plan_delete,
        name="group-delete",
    ),
]
