import pytest
from django.utils import translation

from console.ui.texts import sentence, translated
from monitoring.reasons import Reason, several
from tests.support.pseudo_language import LANGUAGE, pseudo_language


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


def test_a_reason_is_written_in_the_readers_language_with_all_that_is_in_it():
    why = several([Reason("timed_out"), Reason("no_answer", why="x")])
    reason = Reason("of_broker", id=3, why=why)
    assert sentence(reason) == "Broker 3: timed out; no answer: x."
    with pseudo_language(), translation.override(LANGUAGE):
        assert translated(reason) == "⟦broker 3: ⟦⟦timed out⟧; ⟦no answer: x⟧⟧⟧"
        assert translated("a text of an older sample") == "a text of an older sample"
