import pytest
from django.urls import reverse

from monitoring.ticks import tick_stream
from tests.console.conftest import GROUPS, sample, sample_next, store_events, tick_now


def test_the_list_begins_with_the_most_lag(sampled, client_of, admin):
    page = client_of(admin).get("/c/local/groups").content.decode()
    assert page.index("auditors") < page.index("billing")


def test_the_detail_names_the_member_that_owns_each_partition(sampled, client_of, viewer):
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    assert page.count("billing-app") >= 3
    assert "/10.0.0.7" in page
    assert "show=group:billing" in page


def test_partitions_without_a_commit_are_told_beside_the_lag(sampled, client_of, viewer):
    never = GROUPS[0] | {"partition": 1, "committed_offset": None}
    sample_next(groups=[GROUPS[0], never])
    client = client_of(viewer)
    for page in ("/c/local/groups", "/c/local/"):
        text = client.get(page).content.decode()
        assert "+ 100 not committed" in text, page
        assert "1 partition was never committed and holds 100 records" in text, page
    header, row = client.get("/c/local/groups?format=csv&q=billing").content.decode().split()
    found = dict(zip(header.split(","), row.split(","), strict=True))
    assert (found["lag"], found["not-committed"], found["unread"]) == ("40", "1", "100")


def test_a_group_may_have_a_slash_and_a_space_in_its_name(sampled, client_of, viewer):
    sample_next(groups=[GROUPS[0] | {"group": "team a/billing?"}])
    client = client_of(viewer)
    page = client.get("/c/local/groups").content.decode()
    assert 'href="/c/local/groups/team%20a~2Fbilling%3F"' in page
    for path in ("team%20a~2Fbilling%3F", "team%20a/billing%3F", "team%20a%2Fbilling%3F"):
        detail = client.get(f"/c/local/groups/{path}")
        assert detail.status_code == 200
        assert "show=group:team%2520a%252Fbilling%253F&amp;" in detail.content.decode()


@pytest.mark.parametrize("name", ["two\nlines", "<b>", "%2F", "ü?x#y", " "])
def test_any_text_may_be_the_name_of_a_group(sampled, client_of, viewer, name):
    sample_next(groups=[GROUPS[0] | {"group": name}])
    client = client_of(viewer)
    for page in ("/c/local/groups", "/c/local/", "/c/local/topics/orders/consumers"):
        assert client.get(page).status_code == 200, page
    assert client.get(reverse("group", args=["local", name])).status_code == 200


def test_missing_commits_are_shown_as_none_and_not_as_zero(sampled, client_of, viewer):
    row = GROUPS[0] | {"committed_offset": None}
    sample_next(groups=[row])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    assert "nothing committed" in page


def test_no_page_shows_a_plain_0_for_commits_beyond_the_end_offset(sampled, client_of, viewer):
    ahead = GROUPS[0] | {"committed_offset": 590, "log_end_offset": 100}
    sample_next(groups=[ahead])
    client = client_of(viewer)
    for path in ("", "groups", "groups/billing", "topics/orders/consumers"):
        page = client.get(f"/c/local/{path}").content.decode()
        assert "1 partition ahead by 490" in page, path
    page = client.get("/c/local/groups/billing").content.decode()
    assert ">-490<" in page, "as Kafka's tools show it"
    assert page.count("1 partition ahead by 490") == 3, "the group, its member, its topic"


def _ticks_of_a_group(count, change=lambda step: {}):
    first = tick_now() - count
    for step in range(count):
        sample(number=first + step, groups=[GROUPS[0] | change(step)])
    return first, tick_stream.interval_ms()


def test_sums_of_members_and_topics_say_that_a_part_is_not_known(sampled, client_of, viewer):
    sample_next(groups=[GROUPS[0], GROUPS[1] | {"log_end_offset": None}])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    told = '<span class="at-least" title="1 of 2 partitions is not known.">≥ 40</span>'
    assert page.count(told) == 2


def test_a_group_whose_coordinator_is_silent_stays_with_its_age_and_no_lag(
    sampled, client_of, viewer
):
    row = GROUPS[0] | {"log_end_offset": None, "reported_at_ms": 1_000_000}
    sample_next(groups=[row], groups_complete=False)
    client = client_of(viewer)
    for path in ("/c/local/groups", "/c/local/groups/billing", "/c/local/"):
        page = client.get(path).content.decode()
        assert "coordinator not available since" in page.lower()
        assert "1970-01-01 00:16:40 UTC" in page
    assert "Degraded" in page


def test_of_many_members_topics_and_partitions_the_page_names_the_first_and_says_how_many_more(
    sampled, client_of, viewer
):
    changed = (
        {"topic": f"t-{n:04}", "member_id": f"m-{n:04}", "client_id": f"app-{n:04}"}
        for n in range(508)
    )
    sample_next(groups=[GROUPS[0] | change for change in changed])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    for more in ("members are not shown here.", "topics"):
        assert f"8 more {more}" in page
    assert "1 to 25 of 508" in page, "partitions"
    assert ("m-0499" in page, "m-0500" in page) == (True, False)
    assert ("t-0499" in page, "t-0500" in page) == (True, False)


def stalled(step: int) -> dict:
    """`orders` 0 does not move, while 1 is read to its end; both grow."""
    end = {"log_end_offset": 100 + step}
    rows = [GROUPS[0] | end, GROUPS[1] | end | {"committed_offset": 100 + step}]
    return {"groups": rows}


@pytest.fixture
def frozen(redis_server, clusters):
    """Two minutes of a group in state Stable that does not read one of its partitions."""
    first = tick_now() - 24
    for step in range(25):
        sample(number=first + step, **stalled(step))


def test_a_group_with_a_frozen_partition_is_stalled_and_not_green(frozen, client_of, viewer):
    client = client_of(viewer)
    for path in ("/c/local/groups", "/c/local/groups/billing"):
        page = client.get(path).content.decode()
        assert "the commit did not move in the last 5 minutes" in page
        assert "1 of 2 partitions." in page
        assert "Stable" in page
        assert 'bg-success-lt">Stable' not in page
    assert "Not caught up" in page
    assert page.index(">Stalled") < page.index(">Caught up")


def test_partitions_are_sorted_and_filtered_on_the_server(frozen, client_of, viewer):
    client = client_of(viewer)

    def owners_lines(query: str) -> list[str]:
        answer = client.get(f"/c/local/groups/billing?format=csv&{query}").content.decode()
        return [line.split(",")[0] for line in answer.splitlines()[1:]]

    assert owners_lines("sort=partition") == ["0", "1"]
    assert owners_lines("sort=-partition") == ["1", "0"]
    assert owners_lines("") == ["0", "1"], "the largest lag first"
    assert owners_lines("only=behind") == ["0"]
    for key in ("state", "lag", "rate", "committed", "end", "owner", "unread", "topic", "x"):
        assert sorted(owners_lines(f"sort={key}")) == ["0", "1"], key


def test_groups_are_sorted_by_lag_state_and_trend(frozen, client_of, viewer):
    still = {"group": "still", "committed_offset": 0, "log_end_offset": 100}
    rows = [*stalled(25)["groups"], GROUPS[0] | still]
    sample_next(groups=rows)
    client = client_of(viewer)

    def names(sort: str) -> list[str]:
        answer = client.get(f"/c/local/groups?format=csv&sort={sort}").content.decode()
        return [line.split(",")[0] for line in answer.splitlines()[1:]]

    assert names("-lag") == ["still", "billing"]
    assert names("-state") == ["billing", "still"]
    assert names("-trend") == ["billing", "still"], "unknown is last"
    assert names("trend") == ["billing", "still"]


def test_the_total_says_how_many_partitions_were_never_committed_and_what_they_hold(
    sampled, client_of, viewer
):
    sample_next(groups=[GROUPS[0], GROUPS[1] | {"committed_offset": None}])
    page = " ".join(client_of(viewer).get("/c/local/groups/billing").content.decode().split())
    assert "without 1 partition that was never committed and holds 100 records" in page
    assert ">never<" in page
    assert ">Not committed<" in page


def test_members_have_their_assigned_partitions(sampled, client_of, viewer):
    numbers = (0, 1, 2, 5)
    sample_next(groups=[GROUPS[0] | {"partition": number} for number in numbers])
    page = client_of(viewer).get("/c/local/groups/billing").content.decode()
    assert "orders 0–2, 5" in page


def test_rebalances_are_listed_with_what_they_moved(redis_server, clusters, client_of, viewer):
    first = tick_now() - 2
    sample(number=first)
    sample(
        number=first + 1,
        groups=[GROUPS[0] | {"members": 2}, GROUPS[1] | {"members": 2, "member_id": "m-2"}],
    )
    store_events()
    page = " ".join(client_of(viewer).get("/c/local/groups/billing").content.decode().split())
    assert "<td> 1 → 2 </td> <td>1</td>" in page


def test_a_group_without_rebalances_says_so(sampled, client_of, viewer):
    assert "None was seen." in client_of(viewer).get("/c/local/groups/billing").content.decode()
