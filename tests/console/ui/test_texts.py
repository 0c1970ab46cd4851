import pytest

from console.ui.texts import sentence
from monitoring.error_reason import Reason, several


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


def test_a_reason_with_several_others_in_it_becomes_a_sentence():
    why = several([Reason("timed_out"), Reason("no_answer", why="x")])
    reason = Reason("of_broker", id=3, why=why)
    assert sentence(reason) == "Broker 3: timed out; no answer: x."
