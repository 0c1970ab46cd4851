"""Alerts and deliveries store reasons as codes. Fixed texts of before become their code; texts with
figures stay texts, which pages show unchanged.
"""

from typing import Any

from django.db import migrations, models

from monitoring.error_reason import Reason, dumps

_TEXTS = {
    "alert_subject_gone": (
        "the group or topic does not exist any more, or the rule does not match it"
    ),
    "alert_rule_disabled": "the rule was disabled",
    "alert_rule_changed": "the rule was changed",
}


def to_codes(apps: Any, schema_editor: Any) -> None:
    alerts = apps.get_model("monitoring", "Alert").objects
    for code, text in _TEXTS.items():
        alerts.filter(resolved_reason=text).update(resolved_reason=dumps(Reason(code)))


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0009_cluster_security")]

    operations = [
        migrations.AlterField("alert", "resolved_reason", models.TextField(blank=True, default="")),
        migrations.AlterField("alertdelivery", "error", models.TextField(blank=True, default="")),
        migrations.RunPython(to_codes, migrations.RunPython.noop),
    ]
