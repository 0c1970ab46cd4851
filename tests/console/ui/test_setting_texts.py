import pytest

from console.ui.setting_texts import meaning


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("retention.ms", "604800000", "7 days"),
        ("retention.ms", "180000000", "≈ 2 days"),
        ("retention.ms", "60500", "≈ 60 s"),
        ("retention.ms", "-1", "no limit"),
        ("segment.bytes", "1073741824", "1 GiB"),
        ("flush.messages", "9223372036854775807", "no limit"),
        ("flush.messages", "5", ""),
        ("cleanup.policy", "delete", ""),
        ("segment.ms", None, ""),
        ("segment.ms", "soon", ""),
    ],
)
def test_durations_and_sizes_have_readable_units(name, value, text):
    assert meaning(name, value).replace("\u202f", " ") == text
