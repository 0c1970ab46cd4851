from console.topics.forms import ConfigureForm
from monitoring.gateway.topic_admin import ConfigValue

OWN = ConfigValue("retention.ms", "60000", "DYNAMIC_TOPIC_CONFIG", False, False)
DEFAULT = ConfigValue("cleanup.policy", "delete", "DEFAULT_CONFIG", True, False)
HIDDEN = ConfigValue("secret.key", None, "DEFAULT_CONFIG", True, True)


def form(**posted: str) -> ConfigureForm:
    return ConfigureForm(
        {k.replace("_", "."): v for k, v in posted.items()}, [OWN, DEFAULT, HIDDEN]
    )


def test_only_changed_settings_are_in_the_plan():
    made = form(retention_ms="60000", cleanup_policy="compact")
    assert made.is_valid()
    assert made.configs() == {"cleanup.policy": "compact"}


def test_an_empty_field_removes_the_setting_of_the_topic():
    made = form(retention_ms="", cleanup_policy="delete")
    assert made.is_valid()
    assert made.configs() == {"retention.ms": None}


def test_a_form_without_a_change_is_refused():
    assert not form(retention_ms="60000", cleanup_policy="delete").is_valid()
    assert not form().is_valid()


def test_sensitive_settings_have_no_field():
    assert "secret.key" not in form().fields
    assert "retention.ms" in str(form(retention_ms="1"))
