from typing import Any

import monitoring.reports.models
from django.db import migrations, models

OWN_TOPICS = ["console.access", "console.audit"]


def hide_by_name(apps: Any, schema_editor: Any) -> None:
    """Names on the embedded cluster in place of the prefix "console." on every cluster."""
    apps.get_model("monitoring", "Cluster").objects.filter(slug="local").update(
        holds_own_topics=True
    )
    reports = apps.get_model("monitoring", "Report").objects
    for report in reports.iterator():
        if report.hidden_prefixes:
            reports.filter(pk=report.pk).update(hidden_topics=OWN_TOPICS)


class Migration(migrations.Migration):
    dependencies = [
        ("monitoring", "0006_alert_lag_peak"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="holds_own_topics",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name="report",
            name="topics",
            field=models.JSONField(default=monitoring.reports.models.every_name),
        ),
        migrations.AddField(
            model_name="report",
            name="groups",
            field=models.JSONField(default=monitoring.reports.models.every_name),
        ),
        migrations.AddField(
            model_name="report",
            name="hidden_topics",
            field=models.JSONField(default=list),
        ),
        migrations.RunPython(hide_by_name, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name="report",
            name="hidden_prefixes",
        ),
    ]
