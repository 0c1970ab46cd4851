import pytest

from console.ui import numbers
from monitoring.partial_sum import PartialSum


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"), (0, "0"), (999, "999"), (1000, "1 k"), (1234567, "1.23 M"), (999_600, "1 M"),
        (12.345, "12.3"), (0.5, "0.5"), (-1500, "-1.5 k"),
    ],
)  # fmt: skip
def test_a_number_is_written_short(value, text):
    assert numbers.short(value).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024 * 1024 - 1, "1 MiB"),
        (1536, "1.5 KiB"),
        (5 * 2**40, "5 TiB"),
    ],
)
def test_bytes_are_written_in_binary_units(value, text):
    assert numbers.size(value).replace("\u202f", " ") == text


@pytest.mark.parametrize("write", [numbers.count, numbers.rate, numbers.size_rate, numbers.percent])
def test_unknown_values_are_never_shown_as_zero(write):
    assert write(None) == "—"


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (PartialSum(1234, 0, 3), "1 234"),
        (PartialSum(1234, 1, 3), "≥ 1 234"),
        (PartialSum(0, 1, 3), "≥ 0"),
        (PartialSum(12, 0, 3, has_unseen_parts=True), "≥ 12"),
        (PartialSum(None, 3, 3), "—"),
    ],
)
def test_an_incomplete_sum_is_marked(figure, text):
    assert numbers.count(figure).replace("\u202f", " ") == text


def test_a_sum_has_notes_on_missing_parts():
    assert PartialSum(5, 0, 9).missing_note == ""
    assert PartialSum(5, 1, 9).missing_note == "1 of 9 partitions is not known."
    assert PartialSum(5, 2, 9, "replicas").missing_note == "2 of 9 replicas are not known."
    assert "coordinators that do not answer" in PartialSum(5, has_unseen_parts=True).missing_note


def test_a_rate_of_offsets_that_went_back_has_a_minus_sign():
    assert numbers.rate(-1500).replace("\u202f", " ") == "−1.5 k/s"
