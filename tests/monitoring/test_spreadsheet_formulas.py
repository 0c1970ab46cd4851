import pyarrow as pa
import pytest

from monitoring.spreadsheet_formulas import column_without_formulas, without_formula

BEGINNINGS = [
    *("\t", "\r", "\n"),
    *(before + sign for before in ["", " ", "\t", "\r", "\n", "\x0b", "\u3000", "\ufeff"]
      for sign in "=+-@＝＋－＠\u2212\ufe62\ufe63\ufe66\ufe6b"),
]  # fmt: skip


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_no_text_begins_as_a_formula_whatever_stands_before_its_sign(begin):
    text = f"{begin}HYPERLINK(1)"
    assert without_formula(text) == f"'{text}"
    assert column_without_formulas(pa.chunked_array([[text]])).to_pylist() == [f"'{text}"]


def test_other_text_stays_as_it_is():
    texts = ["a=b", "", "orders-1", None]
    assert [without_formula(text) for text in texts[:3]] == texts[:3]
    assert column_without_formulas(pa.chunked_array([texts])).to_pylist() == texts
