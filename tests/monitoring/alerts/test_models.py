from monitoring.alerts.models import Alert, AlertRule


def test_only_the_host_of_a_webhook_is_shown():
    rule = AlertRule()
    assert rule.webhook_host == ""
    rule.set_webhook("https://hooks.example/T0KEN", "key")
    assert rule.webhook_host == "hooks.example"
    rule.webhook_url = "not sealed by us"
    assert rule.webhook_host == "?"


def test_the_text_of_an_alert_has_its_subject():
    assert Alert(group="g").subject == "g"
    assert Alert(group="g", topic="t").subject == "g · t"
