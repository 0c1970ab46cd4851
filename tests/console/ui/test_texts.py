import pytest

from console.ui.texts import sentence


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", ""),
        ("no broker answers", "No broker answers."),
        ("Done.", "Done."),
        ("what now?", "What now?"),
        (" topic x has no partition 9 ", "Topic x has no partition 9."),
    ],
)
def test_a_message_becomes_a_sentence(text, written):
    assert sentence(text) == written
