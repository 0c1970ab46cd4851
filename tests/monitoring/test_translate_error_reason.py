from django.utils import translation

from monitoring.error_reason import Reason, several
from monitoring.translate_error_reason import translated
from tests.support.pseudo_language import LANGUAGE, pseudo_language


def test_a_reason_is_written_in_the_readers_language_with_all_that_is_in_it():
    why = several([Reason("timed_out"), Reason("no_answer", why="x")])
    reason = Reason("of_broker", id=3, why=why)
    with pseudo_language(), translation.override(LANGUAGE):
        assert translated(reason) == "⟦broker 3: ⟦⟦timed out⟧; ⟦no answer: x⟧⟧⟧"
        assert translated("a text of an older sample") == "a text of an older sample"
