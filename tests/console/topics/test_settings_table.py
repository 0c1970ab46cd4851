import pytest

from console.topics.settings_table import build, meaning
from monitoring.gateway.topic_admin import ConfigValue


def entry(name, value, source="DEFAULT_CONFIG", sensitive=False):
    return ConfigValue(name, value, source, source == "DEFAULT_CONFIG", sensitive)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("retention.ms", "604800000", "7 days"),
        ("retention.ms", "-1", "no limit"),
        ("segment.bytes", "1073741824", "1 GiB"),
        ("flush.messages", "9223372036854775807", "no limit"),
        ("flush.messages", "5", ""),
        ("cleanup.policy", "delete", ""),
        ("segment.ms", None, ""),
        ("segment.ms", "soon", ""),
    ],
)
def test_times_and_sizes_are_reported_in_units_that_people_read(name, value, text):
    assert meaning(name, value).replace("\u202f", " ") == text


def test_what_was_changed_is_counted_named_and_stands_on_top():
    told = build(
        {}, [entry("a", "1"), entry("b", "2", "DYNAMIC_TOPIC_CONFIG"), entry("c", "3", "X")]
    )
    assert told["overridden"] == 2
    assert [row.source for row in told["table"].rows] == ["this topic", "X", "default"]


def test_it_is_searched_by_name_and_value():
    told = build({"q": "compact"}, [entry("cleanup.policy", "compact"), entry("other", "x")])
    assert [row.name for row in told["table"].rows] == ["cleanup.policy"]
