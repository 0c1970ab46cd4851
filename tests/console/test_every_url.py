"""Every URL of the console, with who may open it: the table is complete or this file fails.

A row says what each of the cast gets for a GET and, where the URL takes one, for an empty POST.
OK stands for "let in" (the answer may still be a form error or "no such thing").
"""

import uuid

import pytest
from django.urls import get_resolver, reverse

LOGIN, OK, NO, GONE, METHOD = "login", "let in", 403, 404, 405
CAST = ("stranger", "outsider", "viewer", "operator", "admin")
PLAN = uuid.UUID(int=1)
NOT_MADE = {PLAN, 1}
TOPIC, HIDDEN = ["local", "orders"], ["local", "console.audit"]
SUBJECT, HIDDEN_SUBJECT = ["local", "orders-value"], ["local", "console.audit-value"]
CLOSED = ["local", "__consumer_offsets"]  # there for all, its records for admins

PUBLIC = (OK, OK, OK, OK, OK)
ANYONE_IN = (LOGIN, OK, OK, OK, OK)
LOOK = (LOGIN, GONE, OK, OK, OK)  # of a cluster: to others it is not there
CHANGE = (LOGIN, GONE, NO, OK, OK)
ADMIN = (LOGIN, GONE, NO, NO, OK)
SECRET = (LOGIN, GONE, GONE, GONE, OK)  # a hidden name is not there for most
GLOBAL_LOOK = (LOGIN, NO, OK, OK, OK)
GLOBAL_ADMIN = (LOGIN, NO, NO, NO, OK)
NEVER = (METHOD,) * 5

# Of a group or subject: its name may end in a slash.
OF_ANY_NAME = {
    "group", "group-reset", "group-reset-preview", "group-offsets-delete", "group-delete",
    "subject", "schema-register", "schema-compatibility", "schema-delete",
}  # fmt: skip

# name → rows of (arguments, GET, POST)
TABLE = {
    "healthz": [([], PUBLIC, NEVER)],
    "readyz": [([], PUBLIC, NEVER)],
    "metrics": [([], PUBLIC, NEVER)],
    "login": [([], PUBLIC, PUBLIC)],
    "logout": [([], (LOGIN, *NEVER[1:]), ANYONE_IN)],
    "home": [([], (LOGIN, NO, OK, OK, OK), None)],
    "ui": [([], GLOBAL_LOOK, None)],
    "search": [([], GLOBAL_LOOK, None)],
    "clusters": [([], GLOBAL_LOOK, (LOGIN, *NEVER[1:]))],
    "cluster-add": [([], GLOBAL_ADMIN, GLOBAL_ADMIN)],
    "cluster-edit": [(["local"], GLOBAL_ADMIN, GLOBAL_ADMIN)],
    "cluster-remove": [(["local"], (LOGIN, *NEVER[1:]), GLOBAL_ADMIN)],
    "egress": [([], GLOBAL_ADMIN, GLOBAL_ADMIN)],
    "egress-remove": [([1], (LOGIN, *NEVER[1:]), GLOBAL_ADMIN)],
    "audit": [([], GLOBAL_ADMIN, (LOGIN, *NEVER[1:]))],
    "cluster-audit": [(["local"], ADMIN, (LOGIN, GONE, *NEVER[2:]))],
    "live-status": [(["local"], LOOK, None)],
    "dashboard": [(["local"], LOOK, None)],
    "changes": [(["local"], LOOK, None)],
    "brokers": [(["local"], LOOK, None)],
    "broker": [(["local", 1], LOOK, None)],
    "broker-config": [(["local", 1], LOOK, None)],
    "broker-setting": [(["local", 1, "message.max.bytes"], ADMIN, ADMIN)],
    "broker-requests": [(["local", 1], LOOK, None)],
    "broker-loggers": [(["local", 1], LOOK, None)],
    "broker-logger": [(["local", 1, "root"], ADMIN, ADMIN)],
    "topics": [(["local"], LOOK, None)],
    "topic-create": [(["local"], CHANGE, CHANGE)],
    "units": [([], GLOBAL_LOOK, None)],
    "topics-change": [(["local"], CHANGE, CHANGE)],
    "topic": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None)],
    "topic-config": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None)],
    "topic-consumers": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None)],
    "topic-add-partitions": [(TOPIC, CHANGE, CHANGE), (HIDDEN, SECRET, SECRET)],
    "topic-configure": [(TOPIC, CHANGE, CHANGE), (HIDDEN, SECRET, SECRET)],
    "topic-purge": [(TOPIC, ADMIN, ADMIN), (HIDDEN, SECRET, SECRET)],
    "reassignments": [(["local"], LOOK, None)],
    "reassignments-cancel": [(["local"], (LOGIN, GONE, *NEVER[2:]), ADMIN)],
    "elect-leaders": [(["local"], (LOGIN, GONE, *NEVER[2:]), ADMIN)],
    "quotas": [(["local"], ADMIN, None)],
    "quota-edit": [(["local"], ADMIN, ADMIN)],
    "schemas": [(["local"], LOOK, None)],
    "schema-create": [(["local"], CHANGE, CHANGE)],
    "subject": [(SUBJECT, LOOK, None), (HIDDEN_SUBJECT, SECRET, None)],
    "schema-register": [(SUBJECT, CHANGE, CHANGE), (HIDDEN_SUBJECT, SECRET, SECRET)],
    "schema-compatibility": [(SUBJECT, CHANGE, CHANGE), (HIDDEN_SUBJECT, SECRET, SECRET)],
    "schema-delete": [(SUBJECT, ADMIN, ADMIN), (HIDDEN_SUBJECT, SECRET, SECRET)],
    "reassign": [(["local"], ADMIN, ADMIN)],
    "topic-delete": [(TOPIC, ADMIN, ADMIN), (HIDDEN, SECRET, SECRET)],
    "groups": [(["local"], LOOK, None)],
    "group": [(["local", "billing"], LOOK, None)],
    "group-reset": [(["local", "billing"], CHANGE, CHANGE)],
    "group-reset-preview": [(["local", "billing"], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "group-offsets-delete": [(["local", "billing"], CHANGE, CHANGE)],
    "group-delete": [(["local", "billing"], ADMIN, ADMIN)],
    "chart": [(["local"], LOOK, None)],
    # There is no query 1, and "save" of nothing is no page.
    "saved-query-save": [(["local"], (LOGIN, GONE, *NEVER[2:]), LOOK)],
    "saved-query": [(["local", 1], LOOK, LOOK)],
    "saved-query-delete": [(["local", 1], (LOGIN, GONE, *NEVER[2:]), LOOK)],
    "plan": [(["local", PLAN], CHANGE, None)],
    "plan-confirm": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "plan-undo": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "plan-stop": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "plan-resume": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "record-write": [(TOPIC, CHANGE, CHANGE), (HIDDEN, SECRET, SECRET), (CLOSED, ADMIN, ADMIN)],
    "record-write-lines": [
        (TOPIC, CHANGE, CHANGE),
        (HIDDEN, SECRET, SECRET),
        (CLOSED, ADMIN, ADMIN),
    ],
    "record-mock": [(TOPIC, CHANGE, CHANGE), (HIDDEN, SECRET, SECRET), (CLOSED, ADMIN, ADMIN)],
    "record-copy": [(TOPIC, CHANGE, CHANGE), (HIDDEN, SECRET, SECRET), (CLOSED, ADMIN, ADMIN)],
    "messages": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None), (CLOSED, ADMIN, None)],
    "messages-search": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None), (CLOSED, ADMIN, None)],
    "messages-search-results": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None), (CLOSED, ADMIN, None)],
    "messages-search-check": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None), (CLOSED, ADMIN, None)],
    "messages-export": [(TOPIC, LOOK, None), (HIDDEN, SECRET, None), (CLOSED, ADMIN, None)],
    "message-panel": [
        ([*TOPIC, 0, 7], LOOK, None),
        ([*HIDDEN, 0, 7], SECRET, None),
        ([*CLOSED, 0, 7], ADMIN, None),
    ],
    "message-download": [
        ([*TOPIC, 0, 7, "value"], LOOK, None),
        ([*HIDDEN, 0, 7, "value"], SECRET, None),
        ([*CLOSED, 0, 7, "value"], ADMIN, None),
    ],
    "masking": [(["local"], ADMIN, ADMIN)],
    "masking-remove": [(["local", 1], (LOGIN, GONE, *NEVER[2:]), ADMIN)],
    "segments": [([*TOPIC, 0], LOOK, None), ([*HIDDEN, 0], SECRET, None)],
    "segments-estimate": [
        ([*TOPIC, 0], LOOK, None),
        ([*HIDDEN, 0], SECRET, None),
        ([*CLOSED, 0], ADMIN, None),
    ],
    "segment": [([*TOPIC, 0, 0], LOOK, None), ([*HIDDEN, 0, 0], SECRET, None)],
    "alerts": [(["local"], LOOK, None)],
    "alert-rules": [(["local"], LOOK, None)],
    "alert-deliveries": [(["local"], LOOK, None)],
    "alert-rule-add": [(["local"], CHANGE, CHANGE)],
    "alert-rule": [(["local", 1], CHANGE, CHANGE)],
    "alert-switch": [(["local", 1], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "alert-test": [(["local", 1], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "alert-delete": [(["local", 1], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "reports": [(["local"], LOOK, None)],
    "report-new": [(["local"], CHANGE, CHANGE)],
    "report": [(["local", PLAN], LOOK, None)],
    "report-state": [(["local", PLAN], LOOK, None)],
    "report-cancel": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "report-delete": [(["local", PLAN], (LOGIN, GONE, *NEVER[2:]), CHANGE)],
    "report-download": [(["local", PLAN, "topics", "csv"], LOOK, None)],
    "pipeline": [(["local"], CHANGE, ADMIN)],
    "pipeline-stop": [(["local"], (LOGIN, GONE, *NEVER[2:]), ADMIN)],
    "pipeline-resume": [(["local"], (LOGIN, GONE, *NEVER[2:]), ADMIN)],
}


def every_name() -> set[str]:
    return {name for name in get_resolver().reverse_dict if isinstance(name, str)}


def test_no_url_is_missing_from_the_table_and_none_is_left_over():
    assert every_name() == set(TABLE)


@pytest.fixture
def cast(sampled, viewer, operator, admin, outsider, client_of):
    """Who → a browser signed in as them."""
    users = (None, outsider, viewer, operator, admin)
    clients = dict(zip(CAST, map(client_of, users), strict=True))
    for client in clients.values():
        client.raise_request_exception = False
    return clients


def kind_of(response) -> object:
    """What an answer amounts to, in the words of the table."""
    location = response.headers.get("Location", "")
    if response.status_code == 302 and location.startswith(reverse("login") + "?"):
        return LOGIN
    refused = b"does not include" in response.content if not response.streaming else False
    # What it names may be missing, a form be empty, a broker be down: it was let in.
    if response.status_code in (200, 302, 400, 422, 429, 502, 503) and not refused:
        return OK
    return response.status_code


@pytest.mark.parametrize("name", sorted(TABLE))
@pytest.mark.usefixtures("_no_broker_answers")
def test_each_url_opens_only_for_the_listed_roles(name, cast):
    expected, found = {}, {}
    for arguments, on_get, on_post in TABLE[name]:
        for method, answers in (("get", on_get), ("post", on_post)):
            for who, answer in zip(CAST, answers or (), strict=False):
                place = f"{method} {arguments} by {who}"
                response = getattr(cast[who], method)(reverse(name, args=arguments))
                expected[place] = answer
                found[place] = kind_of(response)
                # Let in to what nobody made is let in, too.
                if answer == OK and response.status_code == 404 and NOT_MADE & {*arguments}:
                    found[place] = OK
    assert found == expected


def test_a_missing_or_superfluous_slash_redirects(sampled, client_of, admin):
    """Of every page; some names may end in a slash, and the home page is nothing but one."""
    client = client_of(admin)
    for name in sorted(set(TABLE) - {"home", *OF_ANY_NAME}):
        for arguments, _get, _post in TABLE[name]:
            page = reverse(name, args=arguments)
            other = page.removesuffix("/") if page.endswith("/") else page + "/"
            answer = client.get(other + "?q=a%20b")
            assert (answer.status_code, answer.url) == (301, page + "?q=a%20b"), other
            assert client.post(other).status_code == 404
    assert client.get("/c/local").url == "/c/local/"
    assert client.get("/c/local/groups/").url == "/c/local/groups"


def test_slashes_redirect_to_no_other_site_and_no_missing_page(db, client):
    for path in ("//elsewhere.example", "//elsewhere.example/c/local", "/nowhere", "/c/a/b"):
        assert client.get("/", PATH_INFO=path).status_code == 404, path


def test_an_unknown_slug_is_404(sampled, client_of, admin):
    for path in ("/c/nowhere/", "/c/local%2F/topics", "/c/../topics", "/c/lo'cal/topics"):
        assert client_of(admin).get(path).status_code == 404


def test_a_role_on_one_cluster_opens_that_cluster_only(sampled, client_of):
    from tests.console.conftest import a_user

    client = client_of(a_user("of-staging", "operator", "staging"))
    assert client.get("/c/staging/").status_code == 200
    assert client.get("/c/local/").status_code == 404
    assert b"Local" not in client.get("/clusters").content


def test_one_cluster_never_shows_what_belongs_to_the_other(sampled, client_of, admin):
    client = client_of(admin)
    assert b"only-in-staging" in client.get("/c/staging/topics").content
    assert b"only-in-staging" not in client.get("/c/local/topics").content
    assert client.get("/c/local/topics/only-in-staging").status_code == 404


def test_every_response_has_the_content_security_policy(sampled, client_of, admin):
    policy = client_of(admin).get("/c/local/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
