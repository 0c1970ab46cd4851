import pytest

from console.ui.texts import sentence
from monitoring.reasons import Reason


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


def test_a_reason_becomes_a_sentence():
    assert sentence(Reason("of_broker", id=3, why=Reason("timed_out"))) == "Broker 3: timed out."
