from django.urls import path

from console.schemas import action_views, views

_CLUSTER, _SUBJECT = "c/<slug:cluster>", "<any_name:subject>"

urlpatterns = [
    path(f"{_CLUSTER}/schemas", views.index, name="schemas"),
    # Not under schemas/: there “create” and the others would be read as names of subjects.
    path(f"{_CLUSTER}/schema-create", action_views.plan_create, name="schema-create"),
    path(
        f"{_CLUSTER}/schema-register/{_SUBJECT}",
        action_views.plan_register,
        name="schema-register",
    ),
    path(
        f"{_CLUSTER}/schema-compatibility/{_SUBJECT}",
        action_views.plan_compatibility,
        name="schema-compatibility",
    ),
    path(
        f"{_CLUSTER}/schema-delete/{_SUBJECT}",
        action_views.plan_delete,
        name="schema-delete",
    ),
    path(f"{_CLUSTER}/schemas/{_SUBJECT}", views.subject, name="subject"),
]
