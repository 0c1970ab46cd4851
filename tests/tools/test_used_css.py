"""The rules of Tabler that stay are those that pages use."""

import pytest

from tools import used_css

USED = used_css.used_in(
    [
        '<b class="card alert-{{ tone }}">{% if x %}on{% endif %}</b>',
        'f"is-{state}"',
        "`bg-${tone}-lt`",
    ]
)


def reduced(css: str, other: str = "") -> str:
    return used_css.reduced(css, USED, other).strip()


def test_the_committed_file_is_the_one_that_the_tool_writes():
    assert used_css.is_current(), "run tools/used_css.py"


@pytest.mark.parametrize(
    "rule",
    [
        "p{margin:0}",
        ".card{margin:0}",
        ".card:hover>a::before{margin:0}",
        ".alert-danger{margin:0}",
        ".bg-red-lt{margin:0}",
        ".is-stale .card{margin:0}",
        ".card:not(.navbar,.dropdown){margin:0}",
        "[data-bs-theme=dark] .on{margin:0}",
    ],
)
def test_a_rule_stays_if_all_its_classes_occur(rule):
    assert reduced(rule) == rule


@pytest.mark.parametrize("rule", [".navbar{margin:0}", ".card .navbar{margin:0}", ".alert{top:0}"])
def test_a_rule_with_a_class_that_occurs_nowhere_is_dropped(rule):
    assert reduced(rule) == ""


def test_of_a_list_of_selectors_the_used_ones_stay():
    assert reduced(".navbar,.card,.tabs{margin:0}") == ".card{margin:0}"


def test_blocks_within_conditions_are_looked_at_and_empty_conditions_are_dropped():
    css = "@media print{.card{top:0}.navbar{top:0}}@media screen{.navbar{top:0}}"
    assert reduced(css) == "@media print{.card{top:0}}"


def test_custom_properties_stay_if_something_reads_them():
    css = ":root{--a:1;--b:var(--a);--c:2;--d:var(--c)}p{top:var(--b)}"
    assert reduced(css) == ":root{--a:1;--b:var(--a)}\np{top:var(--b)}"
    assert reduced(":root{--a:1;--b:2}", ".x{top:var(--b)}") == ":root{--b:2}"


def test_animations_stay_if_they_are_played():
    css = "@keyframes spin{to{top:0}}@keyframes blink{to{top:0}}p{animation:spin 1s}"
    assert reduced(css) == "@keyframes spin{to{top:0}}\np{animation:spin 1s}"


def test_the_licence_stays():
    assert reduced('@charset "UTF-8";/*! MIT */p{top:0}/* c */') == "/*! MIT */\np{top:0}"


def test_a_template_names_classes_in_class_and_in_quotes_within_tags():
    names = 'a {% if x == "y" %}b-{{ c }}{% endif %}'
    text = f'<p class="{names}">container</p>{{% badge text "ok" %}}'
    assert used_css.named_in_template(text) == [names, "y", "ok"]


def test_a_module_names_classes_in_texts_of_names_only():
    text = '"""A container."""\nx = {"class": "btn sm"}\ny = f"is-{x}"\nz = "No container."\n'
    assert set(used_css.named_in_module(text)) == {"class", "btn sm", "is-{}", "is-"}


def test_a_script_names_classes_in_quotes():
    text = "// container\na.classList.add(\"x\", 'y', `is-${z}`);"
    assert used_css.named_in_script(text) == ["x", "y", "is-${z}"]
