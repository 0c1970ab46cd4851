import pytest

from monitoring.scope import EVERYTHING, NOTHING, Scope, covers


def test_by_default_every_topic_and_group_is_seen():
    assert EVERYTHING.shows_topic("orders")
    assert EVERYTHING.shows_group("")
    assert Scope() == EVERYTHING


def test_nothing_is_seen_without_patterns():
    assert not NOTHING.shows_topic("orders")
    assert not NOTHING.shows_group("readers")


@pytest.mark.parametrize(
    ("name", "is_seen"),
    [
        ("orders.", True),
        ("orders.eu", True),
        ("orders", False),
        ("payments", True),
        ("payments.eu", False),
        ("Payments", False),
        ("", False),
    ],
)
def test_a_pattern_is_a_name_or_the_beginning_of_names(name, is_seen):
    assert Scope(topics=("orders.*", "payments")).shows_topic(name) is is_seen
    assert Scope(groups=("orders.*", "payments")).shows_group(name) is is_seen


def test_only_a_star_at_the_end_is_a_wildcard():
    assert not Scope(groups=("a*b",)).shows_group("axb")
    assert Scope(groups=("a*b",)).shows_group("a*b")


def test_topics_and_groups_have_patterns_of_their_own():
    scope = Scope(topics=("a",), groups=("b",))
    assert scope.shows_topic("a")
    assert not scope.shows_group("a")


def test_a_hidden_topic_is_not_seen_whatever_the_patterns_say():
    scope = Scope(topics=("*", "console.audit"), hidden_topics=frozenset({"console.audit"}))
    assert not scope.shows_topic("console.audit")
    assert scope.shows_topic("console.audit2")
    assert scope.shows_group("console.audit")


def test_scopes_are_keys():
    assert {Scope(("a",)): 1}[Scope(("a",))] == 1


@pytest.mark.parametrize(
    ("wide", "pattern", "is_covered"),
    [
        ("*", "orders.*", True),
        ("*", "*", True),
        ("orders.*", "orders.eu", True),
        ("orders.*", "orders.eu.*", True),
        ("orders.*", "orders.*", True),
        ("orders.*", "orders*", False),
        ("orders.eu", "orders.*", False),
        ("orders.eu", "orders.eu", True),
        ("orders.*", "*", False),
    ],
)
def test_a_pattern_covers_what_matches_no_more_than_it(wide, pattern, is_covered):
    assert covers(["unrelated", wide], pattern) is is_covered


def test_a_shell_style_pattern_is_shown_where_all_that_it_matches_is():
    scope = Scope(("orders.*", "payments"), ("bill*",), frozenset({"orders.hidden"}))
    shown = ("orders.*", "orders.eu?", "orders.[ab]x", "orders.eu", "payments")
    assert all(map(scope.shows_topics_of, shown))
    outside = ("*", "orders*", "?rders.x", "[o]rders.x", "pay*", "orders.hidden", "")
    assert not any(map(scope.shows_topics_of, outside))
    assert scope.shows_groups_of("billing-?")
    assert not scope.shows_groups_of("bil*")


@pytest.mark.parametrize(
    ("other", "is_contained"),
    [
        (Scope(("orders.*",), ("a",), frozenset({"orders.hidden"})), True),
        (Scope(("orders.eu",), ("a",)), True),
        (Scope(("orders.*",), ("a",)), False),
        (Scope(("orders.*",), ("*",), frozenset({"orders.hidden"})), False),
        (EVERYTHING, False),
        (NOTHING, True),
    ],
)
def test_a_scope_contains_what_shows_nothing_beyond_it(other, is_contained):
    wide = Scope(("orders.*",), ("a", "b"), frozenset({"orders.hidden"}))
    assert wide.contains(other) is is_contained
    assert EVERYTHING.contains(other)


def test_a_subject_is_visible_with_its_topic_and_one_without_a_topic_to_those_who_see_all():
    some = Scope(topics=("orders*",), hidden_topics=frozenset({"orders-secret"}))
    assert some.shows_subject("orders-value")
    assert some.shows_subject("orders-eu-key")
    assert not some.shows_subject("orders-secret-value")
    assert not some.shows_subject("salaries-value")
    assert not some.shows_subject("orders.Order")
    assert Scope().shows_subject("orders.Order")
