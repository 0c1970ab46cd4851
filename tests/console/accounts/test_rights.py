"""Who may do what. The tables here are written by hand, from what docs/operating.md promises: a
change of the program's own tables has to be written down here, too."""

import pytest
from django.contrib.auth.models import AnonymousUser

from console.accounts.rights import VERBS, Rights, may, rights_of
from console.accounts.services import ensure_admin, grant
from monitoring.console_topics import NAMES
from monitoring.models import Cluster
from monitoring.scope import EVERYTHING, NOTHING, Scope
from tests.console.conftest import a_user

NOBODY, VIEWER, OPERATOR, ADMIN = "", "viewer", "operator", "admin"
EVERYONE, CHANGERS, ADMINS = {VIEWER, OPERATOR, ADMIN}, {OPERATOR, ADMIN}, {ADMIN}

# Viewers look …
MAY = dict.fromkeys(
    [
        "cluster.view", "broker.view", "topic.view", "group.view", "segment.view", "record.read",
        "report.view", "alert.view", "schema.view", "ui.view",
    ],
    EVERYONE,
)  # fmt: skip
# … operators change topics, offsets of groups, alert rules and reports, and write records …
MAY |= dict.fromkeys(
    [
        "topic.create",
        "topic.alter",
        "topic.configure",
        "group.alter",
        "plan.view",
        "alert.edit",
        "report.run",
        "pipeline.view",
        "record.write",
        "record.unmask_for_operators",
        "query.share",
        "schema.edit",
    ],
    CHANGERS,
)
# … and admins delete, see what is masked, and look after the console.
MAY |= dict.fromkeys(
    [
        "topic.delete",
        "topic.purge",
        "topic.reassign",
        "group.delete",
        "broker.configure",
        "quota.edit",
        "record.unmask",
        "masking.edit",
        "cluster.edit",
        "audit.view",
        "pipeline.backfill",
        "egress.edit",
        "query.moderate",
        "schema.delete",
    ],
    ADMINS,
)
RECORDS_FOR_ADMINS = dict.fromkeys(
    ["record.read", "record.write", "record.unmask_for_operators"], ADMINS
)
# Of topics that only some may know of or read: what is not written here is as above.
OF_TOPICS = {
    "console.audit": {
        "topic.view": ADMINS, "topic.create": ADMINS, "topic.alter": ADMINS,
        "topic.configure": ADMINS, "segment.view": ADMINS, "record.read": ADMINS,
        **RECORDS_FOR_ADMINS,
    },
    "__consumer_offsets": RECORDS_FOR_ADMINS,
    "__anything": RECORDS_FOR_ADMINS,
    "brokerd.events": RECORDS_FOR_ADMINS,
    "console.orders": {},
    "orders": {},
    "consoles": {},
    "_one": {},
}  # fmt: skip


def on_local(role: str) -> Rights:
    """Of the cluster that holds the console's own topics."""
    return Rights("local", role, EVERYTHING if role == ADMIN else Scope(hidden_topics=NAMES))


def who_may(verb: str, topic: str | None = None) -> set[str]:
    roles = (NOBODY, VIEWER, OPERATOR, ADMIN)
    return {role for role in roles if on_local(role).may(verb, topic)}


def test_each_role_has_exactly_the_listed_verbs():
    assert {verb: who_may(verb) for verb in VERBS} == MAY


@pytest.mark.parametrize("topic", OF_TOPICS)
def test_some_topics_only_admins_see_and_others_only_admins_read(topic):
    verbs = [verb for verb in MAY if verb.startswith(("topic.", "record.", "segment."))]
    assert {verb: who_may(verb, topic) for verb in verbs} == {
        verb: OF_TOPICS[topic].get(verb, MAY[verb]) for verb in verbs
    }


def test_a_topic_name_that_collides_with_a_hidden_topic_is_refused():
    assert not on_local(OPERATOR).may("topic.create", "console_audit")
    assert on_local(ADMIN).may("topic.create", "console_audit")
    assert on_local(OPERATOR).may("topic.view", "console_audit")
    assert on_local(OPERATOR).may("topic.create", "console_orders")


def test_a_group_may_have_any_name():
    assert on_local(VIEWER).may("group.view", "console.watchers")


def test_an_unknown_verb_raises_key_error():
    with pytest.raises(KeyError):
        Rights("local", "admin").may("topic.explode")


def test_an_anonymous_user_has_no_rights():
    assert not any(may(AnonymousUser(), verb, "local") for verb in VERBS)


def test_a_user_without_a_grant_has_no_rights(db):
    user = a_user("new")
    assert not any(may(user, verb, "local") for verb in VERBS)


def test_a_grant_for_one_cluster_overrides_the_grant_for_all(db):
    user = a_user("mixed", "admin")
    grant(user, "viewer", "production")
    assert rights_of(user, "production").role == "viewer"
    assert rights_of(user, "staging").role == "admin"


def test_a_grant_for_one_cluster_gives_only_viewer_rights_on_global_pages(db):
    user = a_user("local-admin", "admin", "local")
    assert not may(user, "topic.view", "staging")
    assert may(user, "cluster.view")
    assert not may(user, "cluster.edit")


def test_a_blocked_account_has_no_rights(db):
    user = a_user("left", "admin")
    user.is_active = False
    assert not may(user, "cluster.view", "local")


def test_a_superuser_is_an_admin_everywhere(db):
    user = a_user("root")
    user.is_superuser = True
    assert may(user, "topic.delete", "anything")


def test_a_new_grant_applies_at_once_and_an_unknown_role_is_refused(db):
    user = a_user("rising", "viewer")
    assert not may(user, "topic.create", "local")
    grant(user, "operator")
    assert may(user, "topic.create", "local")
    with pytest.raises(ValueError, match="no role"):
        grant(user, "emperor")


def test_the_first_admin_is_created_once_and_gets_the_configured_password(db, django_user_model):
    assert ensure_admin("first-password") is True
    assert ensure_admin("first-password") is False
    user = django_user_model.objects.get()
    assert user.check_password("first-password")
    assert may(user, "cluster.edit")
    ensure_admin("second-password")
    user.refresh_from_db()
    assert user.check_password("second-password")


SCOPED = Rights("local", OPERATOR, Scope(("orders.*",), ("billing",)))


@pytest.mark.parametrize("verb", [verb for verb in MAY if verb.startswith(("topic.", "segment."))])
def test_a_topic_outside_the_scope_is_invisible_for_every_verb(verb):
    assert SCOPED.shows(verb, "orders.eu")
    assert not SCOPED.shows(verb, "payments")
    assert not SCOPED.may(verb, "payments")


@pytest.mark.parametrize("verb", ["group.view", "group.alter"])
def test_a_group_outside_the_scope_is_invisible(verb):
    assert SCOPED.may(verb, "billing")
    assert not SCOPED.shows(verb, "billing-2")
    assert not SCOPED.may(verb, "billing-2")


def test_records_that_name_all_topics_are_for_admins_who_see_all():
    assert not Rights("local", ADMIN, Scope(("__*",))).may("record.read", "__consumer_offsets")
    assert Rights("local", ADMIN, Scope(("__*",))).may("topic.view", "__consumer_offsets")


def test_a_grant_has_a_scope(db):
    user = a_user("scoped", "viewer", "local", topics=["b.*", "a", "a"], groups=["x*"])
    assert rights_of(user, "local").scope == Scope(("a", "b.*"), ("x*",))
    grant(user, "operator", "local")
    assert rights_of(user, "local").scope.topics == ("a", "b.*"), "another role, the same scope"
    grant(user, "operator", "local", topics=["a", "*"], groups=["*"])
    assert rights_of(user, "local").scope == EVERYTHING


def test_a_grant_for_one_cluster_has_its_own_scope(db):
    user = a_user("two", "viewer", topics=["orders"])
    grant(user, "viewer", "staging", topics=["payments"])
    assert may(user, "topic.view", "local", "orders")
    assert not may(user, "topic.view", "staging", "orders")
    assert may(user, "topic.view", "staging", "payments")


def test_a_user_without_a_role_sees_nothing(db):
    assert rights_of(a_user("none"), "local").scope == NOTHING
    assert rights_of(AnonymousUser(), "local").scope == NOTHING


@pytest.fixture
def three_entries(db):
    """Two entries of the cluster that holds the console's own topics, and another cluster."""
    ids = {"local": "a", "again": "a", "customer": "b"}
    for slug, cluster_id in ids.items():
        Cluster.objects.create(
            slug=slug, name=slug, bootstrap_servers="127.0.0.1:1", kafka_cluster_id=cluster_id,
            holds_own_topics=slug == "local",
        )  # fmt: skip


def hides_audit(slug: str) -> bool:
    viewer = a_user(f"viewer-{slug}", "viewer")
    return not may(viewer, "topic.view", slug, "console.audit")


@pytest.mark.usefixtures("three_entries")
def test_the_own_topics_are_hidden_on_every_entry_of_the_cluster_that_holds_them_and_on_no_other():
    assert {slug: hides_audit(slug) for slug in ("local", "again", "customer")} == {
        "local": True,
        "again": True,
        "customer": False,
    }
    assert may(a_user("boss", "admin"), "topic.view", "local", "console.audit")


@pytest.mark.usefixtures("three_entries")
def test_an_entry_without_cluster_id_is_treated_like_the_cluster_of_the_own_topics():
    Cluster.objects.filter(slug="customer").update(kafka_cluster_id="")
    assert hides_audit("customer")
