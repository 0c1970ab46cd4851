"""Names that contain a text, and their order."""

import numpy as np
import pyarrow as pa
import pytest

from monitoring.read_model.columns import Names
from monitoring.read_model.name_search import Match, find, match_of

NAMES = ["repay", "pay", "payments.b", "payments.a", "orders.pay", "Pay-x", "orders"]


def found(text: str, hidden: str = "", troubled: str = "", count_max: int = 20):
    names = Names(pa.array(NAMES))
    shown = np.array([name != hidden for name in NAMES])
    in_trouble = np.array([name == troubled for name in NAMES])
    result = find(names, shown, in_trouble, text, count_max)
    return [NAMES[code] for code in result.codes], result.count


def test_the_whole_name_comes_before_its_beginning_a_word_and_a_part():
    expected = ["pay", "Pay-x", "payments.a", "payments.b", "orders.pay", "repay"]
    assert found("PAY") == (expected, 6)


def test_trouble_ranks_above_an_equal_match_and_not_above_a_better_one():
    assert found("pay", troubled="payments.b")[0][:2] == ["pay", "payments.b"]
    assert found("pay", troubled="repay")[0][0] == "pay"


def test_what_is_not_shown_is_neither_found_nor_counted():
    assert found("payments", hidden="payments.a") == (["payments.b"], 1)


def test_the_number_of_names_is_bounded_and_all_are_counted():
    assert found("pay", count_max=2) == (["pay", "Pay-x"], 6)


@pytest.mark.parametrize("text", [".", "*", "\\", "(", "a\x00", "é", "\U0001f600", "-", "_", "]"])
def test_signs_are_taken_literally(text):
    expected = {name for name in NAMES if text in name}
    assert set(found(text)[0]) == expected


@pytest.mark.parametrize("name", NAMES)
def test_one_name_is_judged_as_in_the_list(name):
    text = "pay"
    kind = match_of(name, text)
    assert (kind is None) == (name not in found(text)[0])


def test_how_well_a_name_matches():
    assert [match_of(name, "pay") for name in NAMES] == [
        Match.PART, Match.WHOLE, Match.BEGINNING, Match.BEGINNING, Match.WORD, Match.BEGINNING, None
    ]  # fmt: skip
