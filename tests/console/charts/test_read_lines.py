"""The lines of a chart as JSON."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.charts.read_lines import _numbers


@given(st.lists(st.floats(-1e18, 1e18, allow_subnormal=False), max_size=20))
def test_a_value_has_the_six_digits_that_python_writes(values):
    values = [value if abs(value) > 1e-9 else 0.0 for value in values]
    expected = [float(f"{value:.6g}") for value in values]
    assert _numbers(np.array(values)) == pytest.approx(expected, rel=2e-6)


def test_values_are_written_without_the_noise_of_a_product():
    assert _numbers(np.array([0.1, 0.3, 1 / 3, 1234567.0, 5.0, 0.0, -2.5])) == [
        0.1, 0.3, 0.333333, 1234570.0, 5.0, 0.0, -2.5,
    ]  # fmt: skip


def test_a_value_that_is_not_known_is_null():
    assert _numbers(np.array([math.nan, 1.0])) == [None, 1.0]
