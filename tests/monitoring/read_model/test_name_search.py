"""Names that match the words of a search, and their order."""

import numpy as np
import pyarrow as pa
import pytest

from monitoring.read_model.name_search import WORDS_MAX, Match, SearchWords, find, rank_of
from monitoring.read_model.numpy_columns import Names

NAMES = ["repay", "pay", "payments.b", "payments.a", "orders.pay", "Pay-x", "orders"]


def found(
    text: str, hidden: str = "", troubled: str = "", count_max: int = 20, cluster: str = "Local"
):
    names = Names(pa.array(NAMES))
    shown = np.array([name != hidden for name in NAMES])
    in_trouble = np.array([name == troubled for name in NAMES])
    result = find(names, shown, in_trouble, SearchWords.of(text, cluster), count_max)
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
    rank = rank_of(name, SearchWords.of(text))
    assert (rank is None) == (name not in found(text)[0])


def test_how_well_a_name_matches():
    ranks = [rank_of(name, SearchWords.of("pay")) for name in NAMES]
    assert [rank and rank[1] for rank in ranks] == [
        Match.PART, Match.WHOLE, Match.BEGINNING, Match.BEGINNING, Match.WORD, Match.BEGINNING, None
    ]  # fmt: skip


def test_each_word_is_in_the_name_in_any_order():
    assert found("pay orders") == (["orders.pay"], 1)
    assert found("b pay") == (["payments.b"], 1) != found("pay zzz")


def test_a_word_may_be_in_the_name_of_the_cluster_but_not_all():
    assert found("local orders")[0] == ["orders", "orders.pay"]
    assert found("orders LOC")[0] == ["orders", "orders.pay"]
    assert found("local") == ([], 0)
    assert found("staging orders") == ([], 0)


def test_names_with_all_words_come_before_those_that_need_the_cluster():
    assert found("pay orders", cluster="Orders")[0][0] == "orders.pay"
    assert found("pay orders", cluster="Orders")[1] == 6


def test_several_words_are_judged_by_the_worst_and_the_whole_text_is_best():
    assert rank_of("Broker 1", SearchWords.of("broker 1")) == (False, Match.WHOLE)
    assert rank_of("Broker 12", SearchWords.of("broker 1")) == (False, Match.WORD)
    assert rank_of("orders", SearchWords.of("local ord", "Local")) == (True, Match.BEGINNING)


@pytest.mark.parametrize(
    "text", ["pay", "orders pay", "local pay", "local orders", "x local", "a b"]
)
@pytest.mark.parametrize("name", NAMES)
def test_one_name_is_judged_as_in_the_list_by_several_words(name, text):
    is_found = rank_of(name, SearchWords.of(text, "Local", "local")) is not None
    assert is_found == (name in found(text)[0])


def test_a_text_has_few_words_and_loses_none():
    words = SearchWords.of(" ".join("abcdefghijkl")).words
    assert len(words) == WORDS_MAX
    assert words[-1] == "h i j k l"
