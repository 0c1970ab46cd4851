"""The console's own topics are hidden on the cluster that holds them, by whichever entry."""

import pytest

from monitoring.console_topics import (
    NAMES,
    hidden_by_cluster,
    hidden_on,
    mark_other_entries,
    public_scope,
)
from monitoring.models import Cluster
from monitoring.scope import EVERYTHING, Scope

pytestmark = pytest.mark.django_db


def entry(slug: str, cluster_id: str = "", *, holds: bool = False) -> Cluster:
    return Cluster.objects.create(
        slug=slug, name=slug, bootstrap_servers="a:1", kafka_cluster_id=cluster_id,
        holds_own_topics=holds,
    )  # fmt: skip


def hidden() -> dict[str, bool]:
    """Of each entry whether they are hidden there; asked in both ways."""
    found = {cluster.slug: hidden_on(cluster) == NAMES for cluster in Cluster.objects.all()}
    assert found == {slug: names == NAMES for slug, names in hidden_by_cluster().items()}
    return found


def test_own_topics_are_hidden_on_all_entries_of_their_cluster_only():
    entry("local", "a", holds=True)
    entry("again", "a")
    entry("other", "b")
    assert hidden() == {"local": True, "again": True, "other": False}


def test_own_topics_are_hidden_if_a_cluster_id_is_unknown():
    local = entry("local", "a", holds=True)
    entry("new")
    entry("other", "b")
    assert hidden() == {"local": True, "new": True, "other": False}
    Cluster.objects.filter(pk=local.pk).update(kafka_cluster_id="")
    assert all(hidden().values())


def test_nothing_is_hidden_if_no_entry_has_the_own_topics():
    assert public_scope(entry("customer")) == EVERYTHING


def test_the_public_scope_hides_the_own_topics():
    assert public_scope(entry("local", holds=True)) == Scope(hidden_topics=NAMES)


def test_another_entry_is_marked_when_the_marked_one_is_removed():
    local = entry("local", "a", holds=True)
    entry("again", "a")
    entry("other", "b")
    mark_other_entries(local)
    local.delete()
    assert hidden() == {"again": True, "other": False}
