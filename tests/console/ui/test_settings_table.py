from console.ui.settings_table import build
from monitoring.gateway.config_value import ConfigValue


def entry(name, value, source="DEFAULT_CONFIG", sensitive=False):
    return ConfigValue(name, value, source, source == "DEFAULT_CONFIG", sensitive)


def test_changed_settings_are_counted_and_sorted_first():
    told = build(
        {}, [entry("a", "1"), entry("b", "2", "DYNAMIC_TOPIC_CONFIG"), entry("c", "3", "X")]
    )
    assert told["overridden"] == 2
    assert [row.source for row in told["table"].rows] == ["this topic", "X", "default"]


def test_settings_are_searched_by_name_and_value():
    told = build({"q": "compact"}, [entry("cleanup.policy", "compact"), entry("other", "x")])
    assert [row.name for row in told["table"].rows] == ["cleanup.policy"]
