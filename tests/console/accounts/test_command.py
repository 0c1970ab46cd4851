import io

import pytest
from django.core.management import CommandError, call_command

from console.accounts.rights import may
from console.audit.models import AuditEntry


@pytest.fixture
def account(monkeypatch, db):
    def run(*arguments: str, typed: str = "a-long-password") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed + "\n"))
        output = io.StringIO()
        call_command("account", *arguments, stdout=output)
        return output.getvalue()

    return run


def test_a_person_is_added_with_a_role(account, django_user_model):
    assert "viewer of local" in account("eve", "--role", "viewer", "--cluster", "local")
    user = django_user_model.objects.get()
    assert user.check_password("a-long-password")
    assert may(user, "topic.view", "local")
    assert not may(user, "topic.view", "staging")


def test_a_role_is_changed_without_a_password(account, django_user_model):
    account("eve", "--role", "viewer")
    account("eve", "--role", "operator", typed="")
    user = django_user_model.objects.get()
    assert user.check_password("a-long-password")
    assert may(user, "topic.create", "local")


def test_a_blocked_user_has_no_rights(account, django_user_model):
    account("eve", "--role", "admin")
    account("eve", "--block")
    assert not may(django_user_model.objects.get(), "cluster.view", "local")


def test_a_user_stays_blocked_until_unblocked(account, django_user_model):
    account("eve", "--role", "admin")
    account("eve", "--block")
    account("eve", "--role", "viewer")
    account("eve", "--password")
    assert not may(django_user_model.objects.get(), "cluster.view", "local")
    account("eve", "--unblock")
    assert may(django_user_model.objects.get(), "cluster.view", "local")


def test_account_changes_are_audited(account):
    account("eve", "--role", "operator", "--cluster", "local")
    entry = AuditEntry.objects.get()
    assert (entry.actor_name, entry.action, entry.cluster) == ("system", "account.set", "local")
    assert (entry.resource, entry.after) == ("eve", {"role": "operator"})


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["eve"], "x"),
        (["eve", "--role", "viewer"], "123"),
        (["evelyn.m", "--role", "viewer"], "evelyn.m"),
        (["evelyn.m", "--role", "viewer"], "Evelyn.M1"),
        (["evelyn.m", "--role", "viewer"], "\uff45velyn.\uff2d!"),
    ],
)
def test_missing_roles_and_weak_passwords_are_refused(account, django_user_model, arguments, typed):
    with pytest.raises(CommandError):
        account(*arguments, typed=typed)
    assert not django_user_model.objects.exists()


def test_a_role_is_limited_to_topics_and_groups(account, django_user_model):
    limited = ("--topics", "orders.*, payments", "--groups", "billing")
    assert "topics orders.*, payments" in account("eve", "--role", "viewer", *limited)
    user = django_user_model.objects.get()
    assert may(user, "topic.view", "local", "orders.eu")
    assert not may(user, "topic.view", "local", "clicks")
    assert not may(user, "group.view", "local", "others")
    assert AuditEntry.objects.get().after == {
        "role": "viewer",
        "topics": "orders.*, payments",
        "groups": "billing",
    }


def test_another_role_keeps_its_limits_and_a_star_lifts_them(account, django_user_model):
    account("eve", "--role", "viewer", "--topics", "orders")
    account("eve", "--role", "operator")
    assert not may(django_user_model.objects.get(), "topic.alter", "local", "clicks")
    account("eve", "--topics", "*")
    assert may(django_user_model.objects.get(), "topic.alter", "local", "clicks")


def test_limits_need_a_role_to_limit_and_at_least_one_name(account):
    account("eve", "--role", "viewer", "--cluster", "local")
    for arguments in (("--topics", "a", "--cluster", "staging"), ("--topics", " , ")):
        with pytest.raises(CommandError):
            account("eve", *arguments)
