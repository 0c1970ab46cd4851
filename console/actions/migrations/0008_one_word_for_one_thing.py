from collections.abc import Callable
from typing import Any

from django.db import migrations, models

STATES = ("proposed", "queued", "applying", "done", "failed", "refused")


def _move(state_from: str, state_to: str) -> Callable[[Any, Any], None]:
    def run(apps: Any, schema_editor: Any) -> None:
        plans = apps.get_model("actions", "Plan").objects.using(schema_editor.connection.alias)
        plans.filter(state=state_from).update(state=state_to)

    return run


class Migration(migrations.Migration):
    dependencies = [("actions", "0007_stopped")]

    operations = [
        migrations.RenameField("plan", "kind", "action"),
        migrations.RenameField("plan", "stage", "current_step"),
        migrations.RenameField("plan", "items", "item_outcomes"),
        migrations.AlterField(
            "plan",
            "state",
            models.CharField(
                choices=[(state, state) for state in STATES], default="proposed", max_length=16
            ),
        ),
        migrations.RunPython(_move("draft", "proposed"), _move("proposed", "draft")),
    ]
