"""The tree of a JSON value."""

from console.records.json_tree import DEPTH_MAX, NODES_MAX, tree


def test_members_keep_their_order_their_number_and_their_text():
    node = tree('{"b": 1.10, "a": [true, null], "b": "x"}')
    assert node is not None
    assert (node.kind, node.size) == ("object", 3)
    assert [(child.name, child.kind, child.text) for child in node.children] == [
        ("b", "number", "1.10"), ("a", "list", ""), ("b", "string", "x")
    ]  # fmt: skip
    assert [child.text for child in node.children[1].children] == ["true", "null"]


def test_only_objects_and_lists_have_a_tree():
    assert (tree("1"), tree("text"), tree("{"), tree("[" * 100_000)) == (None,) * 4


def test_large_and_deep_values_are_cut():
    many = tree("[" + ",".join("0" for _ in range(NODES_MAX + 5)) + "]")
    assert many is not None
    assert many.is_cut
    assert len(many.children) < NODES_MAX
    node = tree("[" * 100 + "]" * 100)
    depth = 0
    while node and node.children:
        node, depth = node.children[0], depth + 1
    assert depth == DEPTH_MAX
    assert node is not None
    assert node.is_cut


def test_a_lone_surrogate_can_be_shown():
    node = tree(r'{"a": "\ud800"}')
    assert node is not None
    assert node.children[0].text == "?"


def test_names_and_texts_have_escapes_for_what_a_page_would_not_show():
    node = tree('{"a\\u200b": "\\u202etxt"}')
    assert node is not None
    assert [(child.name, child.text) for child in node.children] == [("a\\u200B", "\\u202Etxt")]
