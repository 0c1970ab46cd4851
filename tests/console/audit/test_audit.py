import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from console.accounts.principal import Principal
from console.accounts.services import grant
from console.actions import registry
from console.audit import visible_entries, write_entry
from console.audit.models import AppendOnlyError, AuditEntry
from console.audit.rotating_json_log import SIZE_BYTES_MAX, RotatingJsonLog
from console.audit.tasks import drop_refused_sign_ins
from tests.console.conftest import a_user
from tests.console.test_every_url import TABLE


def last_line(name: str) -> dict:
    return json.loads((settings.AERIE_LOGS / name).read_text().splitlines()[-1])


def test_an_action_is_written_as_a_row_and_a_log_line(admin, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        entry = write_entry.record(
            admin, "topic.delete", "local", "orders", {"partitions": 3}, {}, "10.0.0.9"
        )
    line = last_line("audit.jsonl")
    assert (line["id"], line["actor"], line["verb"]) == (entry.pk, "admin", "topic.delete")
    assert line["before"] == {"partitions": 3}


def test_an_entry_keeps_the_name_of_a_deleted_account(db, admin):
    entry = write_entry.record(admin, "topic.delete", "local", "orders")
    admin.delete()
    entry.refresh_from_db()
    assert (entry.actor, entry.actor_name) == (None, "admin")


def test_the_page_searches_and_pages_in_the_database(db, client_of, admin, redis_server):
    for number in range(60):
        write_entry.record(admin, "topic.create", "local", f"topic-{number:02}")
    write_entry.record(None, "alert.resolve", "staging", "billing")
    client = client_of(admin)
    first = client.get("/audit")
    assert first.content.count(b">topic.create</td>") == 24
    assert b"1 to 25 of 61" in first.content
    found = client.get("/audit?q=staging billing").content
    assert b"alert.resolve" in found
    assert b">topic.create</td>" not in found
    assert client.get("/audit?sort=actor&page=2").status_code == 200
    assert client.get("/audit?sort=drop table&page=-4&q=%00").status_code == 200


@pytest.mark.parametrize("query", ["page=0", "page=9999999", "page=x", "q=%00", "sort=nonsense"])
def test_invalid_query_parameters_show_a_page(db, client_of, admin, redis_server, query):
    write_entry.record(admin, "topic.delete", "local", "orders")
    answer = client_of(admin).get(f"/audit?{query}")
    assert answer.status_code == 200
    assert "topic.delete" in answer.content.decode()


def test_before_and_after_show_only_what_differs(db, client_of, admin, redis_server):
    write_entry.record(admin, "cluster.edit", "local", "L", {"a": 1, "b": 2}, {"a": 1, "b": 3})
    page = client_of(admin).get("/audit").content.decode()
    assert "1 change" in page
    assert "2 → 3" in page


def test_a_request_is_logged_without_query_and_body(client, db):
    client.get("/login?next=/secret-token")
    line = last_line("access.jsonl")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/login", 200)
    assert "secret-token" not in json.dumps(line)


def test_the_access_log_knows_the_role_not_the_name(sampled, client_of, operator):
    client_of(operator).get("/c/local/topics")
    line = last_line("access.jsonl")
    assert line["role"] == "operator"
    assert set(line) == {"at_ms", "method", "path", "status", "duration_ms", "role"}


def test_a_full_log_is_renamed_and_started_again(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * (SIZE_BYTES_MAX - 5))
    lines = RotatingJsonLog(path)
    lines.append({"n": 1})
    lines.append({"n": 2})
    assert path.read_text() == '{"n":1}\n{"n":2}\n'
    assert path.with_name("log.jsonl.1").stat().st_size == SIZE_BYTES_MAX - 5


def test_control_characters_are_escaped_in_log_lines(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    agent = "für \n\x1b[31m\x7f\x9b2J\u2028\u202e\ud800\U000e0001"
    RotatingJsonLog(path).append({"agent": agent, "n": 1})
    [line] = path.read_text().splitlines()
    assert line.isprintable()
    assert json.loads(line) == {"agent": agent, "n": 1}


def test_a_log_rotated_by_another_process_is_not_rotated_again(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_text("full")
    lines = RotatingJsonLog(path)
    with path.open("ab", buffering=0) as full:
        path.rename(tmp_path / "log.jsonl.1")
        path.write_text("fresh")
        lines._rotate(full)
    assert (path.read_text(), (tmp_path / "log.jsonl.1").read_text()) == ("fresh", "full")


def test_only_old_refused_sign_ins_are_deleted(db, admin):
    kept = [write_entry.record(admin, "topic.delete"), write_entry.record(None, "account.sign-in")]
    old = write_entry.record(None, "account.sign-in", resource="eve", outcome="refused")
    young = write_entry.record(None, "account.sign-in", resource="eve", outcome="refused")
    AuditEntry._base_manager.exclude(pk=young.pk).update(at=timezone.now() - timedelta(days=91))
    drop_refused_sign_ins()
    assert set(AuditEntry.objects.all()) == {*kept, young}
    assert not AuditEntry.objects.filter(pk=old.pk).exists()


def test_a_log_that_cannot_be_written_fails_no_request(tmp_path: Path, caplog):
    (tmp_path / "file").write_text("")
    lines = RotatingJsonLog(tmp_path / "file" / "log.jsonl")
    lines.append({"n": 1})
    lines.append({"n": 2})
    assert caplog.text.count("cannot be written") == 1


def every_row() -> list[dict]:
    return list(AuditEntry.objects.order_by("pk").values())


@pytest.mark.usefixtures("_no_broker_answers")
def test_actions_in_the_console_only_add_entries(sampled, client_of, admin):
    write_entry.record(admin, "topic.delete", "local", "orders", {"partitions": 3}, detail="why")
    write_entry.record(None, "account.sign-in", resource="eve", outcome="refused")
    before, client = every_row(), client_of(admin)
    client.raise_request_exception = False
    for name, rows in TABLE.items():
        for arguments, _get, on_post in rows:
            if on_post is not None:
                client.post(reverse(name, args=arguments), {"name": "x", "typed": "local"})
                client.force_login(admin)
    write_entry.record(admin, "topic.delete", "local", "orders", {"partitions": 3}, detail="why")
    drop_refused_sign_ins()
    after = every_row()
    assert after[: len(before)] == before
    assert {row["action"] for row in after[len(before) :]} >= {"cluster.remove", "topic.delete"}


def test_entries_cannot_be_changed_or_deleted(db, admin):
    entry = write_entry.record(admin, "topic.delete", "local", "orders")
    before = every_row()
    entry.detail = "nothing"
    for attempt in (
        entry.save,
        entry.delete,
        lambda: AuditEntry.objects.update(detail="nothing"),
        lambda: AuditEntry.objects.filter(pk=entry.pk).delete(),
        lambda: AuditEntry.objects.bulk_update([entry], ["detail"]),
        lambda: AuditEntry.objects.update_or_create({"detail": "nothing"}, pk=entry.pk),
    ):
        with pytest.raises(AppendOnlyError), transaction.atomic():
            attempt()
    assert every_row() == before


def visible_to(user) -> set[str]:
    entries = visible_entries.visible_to(Principal(user))
    return {f"{entry.cluster} {entry.action} {entry.resource}" for entry in entries}


@pytest.fixture
def entries(clusters, admin):
    for cluster in ("local", "staging"):
        for topic in ("orders.eu", "Orders.eu", "console.audit"):
            write_entry.record(admin, "topic.delete", cluster, topic)
        write_entry.record(admin, "masking.add", cluster, "orders.*")
        write_entry.record(admin, "masking.add", cluster, "*")
        write_entry.record(admin, "alert.add", cluster, "a rule", {}, {"topic_pattern": "x"})
        write_entry.record(admin, "cluster.edit", cluster, "its name")
    write_entry.record(admin, "account.sign-in")


@pytest.mark.usefixtures("entries")
def test_a_user_who_sees_everything_reads_every_entry(admin):
    assert len(visible_to(admin)) == 15


@pytest.mark.usefixtures("entries")
def test_entries_of_a_cluster_are_limited_to_the_scope_on_that_cluster():
    user = a_user("most", "admin")
    grant(user, "admin", "local", topics=["orders.*"])
    assert {told for told in visible_to(user) if told.startswith("local")} == {
        "local topic.delete orders.eu",
        "local masking.add orders.*",
        "local cluster.edit its name",
    }
    assert len(visible_to(user)) == 3 + 7 + 1
    grant(user, "operator", "local", topics=["*"])
    assert "local topic.delete console.audit" not in visible_to(user)
    assert "local topic.delete Orders.eu" in visible_to(user)
    assert "staging topic.delete console.audit" in visible_to(user)


@pytest.mark.usefixtures("entries")
def test_admins_of_one_cluster_read_what_their_scope_shows_of_it(client_of, redis_server):
    user = a_user("local-admin", "admin", "local", topics=["orders.*"])
    assert client_of(user).get("/audit").status_code == 403
    answer = client_of(user).get("/c/local/audit")
    assert "Sign-ins" not in answer.content.decode()  # they have no cluster
    assert {row["entry"].resource for row in answer.context["table"].rows} == {
        "orders.eu", "orders.*", "its name"
    }  # fmt: skip
    assert client_of(user).get("/c/staging/audit").status_code == 404


@pytest.mark.usefixtures("entries")
def test_entries_about_grants_are_read_only_by_users_who_see_everything(admin):
    after = {"topics": ["payments.eu"]}
    for cluster in ("", "local"):
        write_entry.record(None, "account.set", cluster, "somebody", after=after)
    narrow = Principal(a_user("narrow", "admin", topics=["orders.*"]))
    assert not visible_entries.visible_to(narrow).filter(action="account.set").exists()
    assert visible_entries.visible_to(Principal(admin)).filter(action="account.set").count() == 2


@pytest.mark.parametrize("action", registry.actions())
def test_what_an_action_on_hidden_topics_or_groups_changed_is_read_by_nobody_else(action, clusters):
    if action.startswith(("broker.", "quota.")):
        return  # neither is limited by a scope
    write_entry.record(None, action, "local", "payments.eu, payments.us", {}, {"payments.eu": "x"})
    narrow = a_user("narrow", "admin", topics=["orders.*"], groups=["orders.*"])
    assert not visible_entries.visible_to(Principal(narrow)).exists()


@pytest.mark.usefixtures("entries")
def test_a_scope_for_all_clusters_applies_to_each_cluster():
    user = a_user("some", "admin", topics=["orders.*"])
    assert visible_to(user) == {
        f"{cluster} {told}"
        for cluster in ("local", "staging")
        for told in ("topic.delete orders.eu", "masking.add orders.*", "cluster.edit its name")
    } | {" account.sign-in "}
