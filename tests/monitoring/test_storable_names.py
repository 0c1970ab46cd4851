import pytest

from monitoring.storable_names import is_storable


@pytest.mark.parametrize(
    ("name", "fits"), [("", True), ("g" * 255, True), ("g" * 256, False), ("a\x00b", False)]
)
def test_a_name_is_storable_if_it_is_short_and_has_no_nul(name, fits):
    assert is_storable(name) is fits
