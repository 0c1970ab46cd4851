"""Who sees, shares and changes a saved query, and its limits."""

import pytest

from console.audit.models import AuditEntry
from console.saved_queries import services
from console.saved_queries.models import SavedQuery
from console.saved_queries.services import SavedQueryRefused
from monitoring.models import Cluster
from tests.console.conftest import a_user, by


@pytest.fixture
def local(clusters):
    return Cluster.objects.get(slug="local")


def saved(user, cluster, query="q=pay&sort=-lag", **changes):
    fields = {"page": "topics", "topic": "", "query": query, "name": "mine", "is_shared": False}
    return services.save(by(user), cluster, **(fields | changes))


def names(user, cluster, page="topics", topic=""):
    return [row.name for row in services.visible(by(user), cluster, page, topic)]


def test_what_is_shown_is_saved_and_not_where_one_is(local, viewer):
    row = saved(viewer, local, "?q=a+b&columns=name,size&page=7&format=csv")
    assert row.query == "q=a+b&columns=name%2Csize"


def test_a_query_is_seen_by_its_owner_alone(local, viewer, operator, admin):
    saved(viewer, local)
    assert [names(user, local) for user in (viewer, operator, admin)] == [["mine"], [], []]


def test_a_query_is_of_one_page_and_one_cluster(local, viewer):
    saved(viewer, local)
    saved(viewer, local, page="messages-search", topic="orders", query="text=x")
    staging = Cluster.objects.get(slug="staging")
    assert names(viewer, local, "groups") == names(viewer, staging) == []
    assert names(viewer, local, "messages-search", "orders") == ["mine"]
    assert names(viewer, local, "messages-search", "others") == []


def test_a_shared_query_is_seen_by_users_whose_scope_has_all_names(local, operator, viewer):
    saved(operator, local, is_shared=True)
    narrow = a_user("narrow", "viewer", topics=["pay*"], groups=["*"])
    other = a_user("other", "viewer", topics=["*"], groups=["pay*"])
    assert [names(user, local) for user in (viewer, narrow, other)] == [["mine"], [], []]


def test_a_shared_query_that_names_a_hidden_topic_is_not_seen(local, admin, viewer):
    saved(admin, local, "q=console.audit", is_shared=True)
    saved(admin, local, "q=x", name="of console.access", is_shared=True)
    assert names(viewer, local) == []
    assert len(names(admin, local)) == 2


def test_a_shared_search_in_records_needs_the_right_to_read_the_topic(local, admin, viewer):
    fields = {"page": "messages-search", "query": "text=x", "is_shared": True}
    saved(admin, local, topic="__consumer_offsets", **fields)
    assert names(admin, local, "messages-search", "__consumer_offsets") == ["mine"]
    assert names(viewer, local, "messages-search", "__consumer_offsets") == []


def test_a_viewer_shares_nothing(local, viewer, operator):
    with pytest.raises(SavedQueryRefused, match="operators and admins"):
        saved(viewer, local, is_shared=True)
    row = saved(viewer, local)
    with pytest.raises(SavedQueryRefused, match="operators and admins"):
        services.change(by(viewer), local, row, name="mine", is_shared=True)
    assert not SavedQuery.objects.get().is_shared


def test_only_owners_and_admins_change_a_shared_query(local, operator, viewer, admin):
    row = saved(operator, local, is_shared=True)
    assert services.find_changeable(by(viewer), local, row.pk) is None
    assert services.find_changeable(by(a_user("second", "operator")), local, row.pk) is None
    assert services.find_changeable(by(admin), local, row.pk) == row
    services.change(by(operator), local, row, name="mine", is_shared=False)
    assert services.find_changeable(by(admin), local, row.pk) is None


def test_names_are_unique_for_a_user_a_page_and_a_cluster(local, viewer, operator):
    saved(viewer, local)
    with pytest.raises(SavedQueryRefused, match="already"):
        saved(viewer, local, name=" mine ")
    saved(operator, local)
    saved(viewer, local, page="groups")
    second = saved(viewer, local, name="second")
    with pytest.raises(SavedQueryRefused, match="already"):
        services.change(by(viewer), local, second, name="mine", is_shared=False)
    assert SavedQuery.objects.get(pk=second.pk).name == "second"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "  "}, "printable"),
        ({"name": "a\x00b"}, "printable"),
        ({"name": "x" * 81}, "81 letters"),
        ({"query": "page=3"}, "no filter"),
        ({"query": "q=" + "x" * 2000}, "longer than 2000"),
        ({"query": "&".join(f"a{n}=1" for n in range(60))}, "longer"),
        ({"page": "audit"}, "cannot be saved"),
        ({"page": "messages-search"}, "cannot be saved"),
        ({"topic": "orders"}, "cannot be saved"),
    ],
)
def test_bad_input_is_refused_with_the_reason(local, viewer, changes, why):
    with pytest.raises(SavedQueryRefused, match=why):
        saved(viewer, local, **changes)
    assert not SavedQuery.objects.exists()


def test_a_user_has_at_most_so_many(local, viewer, monkeypatch):
    monkeypatch.setattr(services, "COUNT_MAX", 2)
    saved(viewer, local, name="one")
    saved(viewer, local, name="two")
    with pytest.raises(SavedQueryRefused, match="delete one"):
        saved(viewer, local, name="three")


def test_an_outsider_saves_nothing(local, outsider):
    with pytest.raises(SavedQueryRefused):
        saved(outsider, local)


def test_all_is_audited_for_those_who_may_see_all_names(local, operator, admin):
    row = saved(operator, local)
    services.change(by(operator), local, row, name="ours", is_shared=True)
    services.delete(by(operator), local, row)
    entries = list(AuditEntry.objects.order_by("pk").values_list("action", "resource"))
    assert entries == [("query.save", "mine"), ("query.change", "ours"), ("query.delete", "ours")]
    changed = AuditEntry.objects.get(action="query.change")
    assert (changed.before["shared"], changed.after["shared"]) == (False, True)
    assert changed.after["query"] == "q=pay&sort=-lag"
