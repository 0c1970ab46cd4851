"""Keeps spreadsheets from running the text of a CSV cell as a formula: an apostrophe before it.

Otherwise anyone who can create a consumer group could put `=HYPERLINK(…)` into an export. Pure.
"""

import pyarrow as pa
import pyarrow.compute as pc
import re2

# Text that a spreadsheet runs as a formula, including full-width and small signs, and signs behind
# characters that spreadsheets remove.
_FORMULA = r"^[\t\r\n]|^[\p{Z}\p{C}]*[=+\-@＝＋－＠\x{2212}\x{FE62}\x{FE63}\x{FE66}\x{FE6B}]"
_is_formula = re2.compile(_FORMULA).search


def without_formula(text: str) -> str:
    """The text of one cell."""
    return f"'{text}" if _is_formula(text) else text


def column_without_formulas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of strings."""
    is_formula = pc.match_substring_regex(column, _FORMULA)
    return pc.if_else(is_formula, pc.binary_join_element_wise("'", column, ""), column)
