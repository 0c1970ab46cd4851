from console.topics import setting_catalog
from console.topics.configure_form import ConfigureForm
from monitoring.gateway.config_value import ConfigValue

OWN = ConfigValue(
    "retention.ms", "60000", "DYNAMIC_TOPIC_CONFIG", False, False, inherited="604800000"
)
DEFAULT = ConfigValue("cleanup.policy", "delete", "DEFAULT_CONFIG", True, False)
SECRET = ConfigValue("secret.key", None, "DEFAULT_CONFIG", True, True)
READ_ONLY = ConfigValue("fixed", "1", "DEFAULT_CONFIG", True, False, True)
LIST = ConfigValue(
    "leader.replication.throttled.replicas", "*", "DYNAMIC_TOPIC_CONFIG", False, False
)
ENTRIES = [OWN, DEFAULT, SECRET, READ_ONLY, LIST]


def form(posted: dict[str, str], opened: dict[str, str] | None = None) -> ConfigureForm:
    """As sent by a browser that saw `opened`."""
    values = {entry.name: entry.value or "" for entry in (OWN, DEFAULT, LIST)} | (opened or {})
    hidden = {f"opened:{name}": value for name, value in values.items()}
    return ConfigureForm({**values, **hidden, **posted}, ENTRIES)


def errors(made: ConfigureForm) -> str:
    assert not made.is_valid()
    return str(made.non_field_errors())


def test_only_changed_settings_are_in_the_plan():
    made = form({"cleanup.policy": "compact"})
    assert made.is_valid()
    assert made.configs() == {"cleanup.policy": "compact"}


def test_a_setting_is_removed_by_its_box_and_not_by_an_empty_field():
    made = form({"default:retention.ms": "on", LIST.name: ""})
    assert made.is_valid()
    assert made.configs() == {"retention.ms": None, LIST.name: ""}


def test_a_setting_without_a_value_of_the_topic_is_not_removed():
    assert "at least one" in errors(form({"default:cleanup.policy": "on"}))


def test_a_duration_may_have_a_unit_and_the_plan_gets_milliseconds():
    made = form({"retention.ms": " 7 d "})
    assert made.is_valid()
    assert made.configs() == {"retention.ms": "604800000"}
    assert "at least one" in errors(form({"retention.ms": "1 min"})), "it has this value"


def test_a_wrong_unit_is_refused_with_an_example_and_stays_in_the_field():
    made = form({"retention.ms": "7 x"})
    assert not made.is_valid()
    assert "for example 7d, 36h or 90 min" in str(made.errors["retention.ms"])
    assert made["retention.ms"].value() == "7 x"


def test_an_unusual_value_that_nobody_changes_is_no_error():
    odd = ConfigValue("odd.ms", "never", "DYNAMIC_TOPIC_CONFIG", False, False)
    made = ConfigureForm({"odd.ms": "never", "retention.ms": "5"}, [odd, OWN])
    assert made.is_valid()
    assert made.configs() == {"retention.ms": "5"}


def test_a_form_without_a_change_is_refused():
    assert "at least one" in errors(form({}))
    assert "at least one" in errors(ConfigureForm({}, ENTRIES))


def test_sensitive_and_read_only_settings_have_no_field_and_are_refused():
    made = form({})
    assert not {"secret.key", "fixed"} & made.fields.keys()
    assert "cannot be changed" in errors(form({"secret.key": "x"}))
    assert "cannot be changed" in errors(form({"fixed": "2"}))
    assert "cannot be changed" in errors(form({"default:fixed": "on"}))


def test_a_change_by_somebody_else_is_told_before_it_is_overwritten():
    made = form({"retention.ms": "1000"}, opened={"retention.ms": "5"})
    text = errors(made)
    assert "“retention.ms” was “5” and is “60000” now" in text
    assert made.sections()[0][1][0]["field"].value() == "1000", "what the user typed is kept"


def test_a_setting_that_only_somebody_else_changed_shows_its_new_value():
    made = form({"cleanup.policy": "compact"}, opened={"retention.ms": "5"})
    assert "Somebody else" in errors(made)
    rows = {row["name"]: row for _title, rows in made.sections() for row in rows}
    assert rows["retention.ms"]["field"].value() == "60000"
    assert rows["cleanup.policy"]["field"].value() == "compact"


def test_every_setting_is_shown_with_text_source_default_and_suggestions():
    rows = {
        row["name"]: row for _title, rows in ConfigureForm(None, ENTRIES).sections() for row in rows
    }
    assert rows.keys() == {entry.name for entry in ENTRIES}
    own = rows["retention.ms"]
    assert (own["source"], own["inherited"], own["meaning"]) == ("this topic", "604800000", "60 s")
    assert ("-1", "no limit") in own["suggestions"]
    assert rows["secret.key"]["field"] is None


def test_a_choice_contains_the_present_value():
    entry = ConfigValue("cleanup.policy", "delete,compact", "DYNAMIC_TOPIC_CONFIG", False, False)
    assert "delete,compact" in str(ConfigureForm(None, [entry])["cleanup.policy"])


def test_each_documented_setting_has_a_section_and_a_text():
    infos = setting_catalog.SETTINGS.values()
    assert all(info.text and info.section in setting_catalog.SECTIONS for info in infos)
