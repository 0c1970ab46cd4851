import itertools

import pytest
from django.contrib.auth.models import AnonymousUser

from console.accounts import rights
from console.accounts.rights import ROLES, VERBS, Rights, may
from console.accounts.services import ensure_admin, grant
from tests.console.conftest import a_user


@pytest.mark.parametrize(("verb", "role"), list(itertools.product(VERBS, ROLES)))
def test_a_role_may_what_the_table_says_and_all_that_the_roles_before_it_may(verb, role):
    allowed = role != "" and ROLES.index(role) >= ROLES.index(VERBS[verb])
    assert Rights("local", role).may(verb) is allowed


@pytest.mark.parametrize("verb", ["topic.view", "record.read", "segment.view", "topic.alter"])
def test_topics_of_the_console_itself_are_for_admins_whatever_the_verb(verb):
    assert not Rights("local", "operator").may(verb, "console.audit")
    assert Rights("local", "admin").may(verb, "console.audit")


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__anything", "brokerd.events"])
def test_records_that_name_others_topics_are_for_admins_and_their_figures_for_all(topic):
    for role in ("viewer", "operator"):
        assert Rights("local", role).may("topic.view", topic)
        assert Rights("local", role).may("segment.view", topic)
        assert not Rights("local", role).may("record.read", topic)
    assert Rights("local", "admin").may("record.read", topic)


def test_a_name_that_a_broker_would_refuse_because_of_a_hidden_one_cannot_be_tried():
    assert not Rights("local", "operator").may("topic.create", "console_audit")
    assert Rights("local", "admin").may("topic.create", "console_audit")
    assert Rights("local", "operator").may("topic.view", "console_audit")


def test_a_group_may_have_any_name():
    assert Rights("local", "viewer").may("group.view", "console.watchers")


def test_a_verb_that_does_not_exist_is_a_mistake_in_the_program():
    with pytest.raises(KeyError):
        Rights("local", "admin").may("topic.explode")


def test_a_stranger_may_nothing():
    assert not any(may(AnonymousUser(), verb, "local") for verb in VERBS)


def test_a_user_without_a_grant_may_nothing(db):
    user = a_user("new")
    assert not any(may(user, verb, "local") for verb in VERBS)


def test_a_grant_for_one_cluster_beats_the_one_for_all(db):
    user = a_user("mixed", "admin")
    grant(user, "viewer", "production")
    assert rights.of(user, "production").role == "viewer"
    assert rights.of(user, "staging").role == "admin"


def test_a_grant_for_one_cluster_gives_nothing_elsewhere_but_a_look_at_global_pages(db):
    user = a_user("local-admin", "admin", "local")
    assert not may(user, "topic.view", "staging")
    assert may(user, "cluster.view")
    assert not may(user, "cluster.edit")


def test_a_blocked_account_may_nothing(db):
    user = a_user("left", "admin")
    user.is_active = False
    assert not may(user, "cluster.view", "local")


def test_a_superuser_is_an_admin_everywhere(db):
    user = a_user("root")
    user.is_superuser = True
    assert may(user, "topic.delete", "anything")


def test_a_new_grant_counts_at_once_and_an_unknown_role_is_refused(db):
    user = a_user("rising", "viewer")
    assert not may(user, "topic.create", "local")
    grant(user, "operator")
    assert may(user, "topic.create", "local")
    with pytest.raises(ValueError, match="no role"):
        grant(user, "emperor")


def test_the_first_admin_is_made_once_and_follows_the_password_it_is_given(db, django_user_model):
    assert ensure_admin("first-password") is True
    assert ensure_admin("first-password") is False
    user = django_user_model.objects.get()
    assert user.check_password("first-password")
    assert may(user, "cluster.edit")
    ensure_admin("second-password")
    user.refresh_from_db()
    assert user.check_password("second-password")
