import pytest

from console.ui.settings_table import build, meaning
from monitoring.gateway.config_value import ConfigValue


def entry(name, value, source="DEFAULT_CONFIG", sensitive=False):
    return ConfigValue(name, value, source, source == "DEFAULT_CONFIG", sensitive)


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


def test_changed_settings_are_counted_and_sorted_first():
    told = build(
        {}, [entry("a", "1"), entry("b", "2", "DYNAMIC_TOPIC_CONFIG"), entry("c", "3", "X")]
    )
    assert told["overridden"] == 2
    assert [row.source for row in told["table"].rows] == ["this topic", "X", "default"]


def test_settings_are_searched_by_name_and_value():
    told = build({"q": "compact"}, [entry("cleanup.policy", "compact"), entry("other", "x")])
    assert [row.name for row in told["table"].rows] == ["cleanup.policy"]
