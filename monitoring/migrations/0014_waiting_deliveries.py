from collections.abc import Callable
from typing import Any

from django.db import migrations, models

STATES = (("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Failed"))


def _replace(state_from: str, state_to: str) -> Callable[[Any, Any], None]:
    def run(apps: Any, schema_editor: Any) -> None:
        alias = schema_editor.connection.alias
        deliveries = apps.get_model("monitoring", "AlertDelivery").objects.using(alias)
        deliveries.filter(state=state_from).update(state=state_to)

    return run


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0013_broker_metrics")]

    operations = [
        migrations.AlterField(
            "alertdelivery",
            "state",
            models.CharField(choices=STATES, default="waiting", max_length=16),
        ),
        migrations.RunPython(_replace("pending", "waiting"), _replace("waiting", "pending")),
    ]
