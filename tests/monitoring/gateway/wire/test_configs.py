import pytest

from monitoring.gateway.wire.configs import value_in_unit_of


@pytest.mark.parametrize(
    ("name", "synonym", "value", "expected"),
    [
        ("retention.ms", "log.retention.hours", "168", "604800000"),
        ("log.roll.ms", "log.roll.hours", "168", "604800000"),
        ("retention.ms", "log.retention.minutes", "10", "600000"),
        ("retention.ms", "log.retention.ms", "5", "5"),
        ("retention.ms", "log.retention.hours", "-1", "-1"),
        ("retention.ms", "log.retention.hours", None, None),
        ("log.roll.hours", "log.roll.hours", "168", "168"),
        ("cleanup.policy", "log.cleanup.policy", "delete", "delete"),
    ],
)
def test_a_synonym_is_told_in_the_unit_of_the_setting(name, synonym, value, expected):
    assert value_in_unit_of(name, synonym, value) == expected
