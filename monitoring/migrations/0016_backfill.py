"""A back-fill has a row of its own; the space on the disk is not stored any more."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def move_running(apps: Any, schema_editor: Any) -> None:
    """A back-fill that runs begins again: the position has another meaning now."""
    backfill = apps.get_model("monitoring", "Backfill")
    states = apps.get_model("monitoring", "PipelineState").objects
    for state in states.filter(backfill_next_ms__isnull=False):
        from_ms, to_ms = state.backfill_from_ms, state.backfill_to_ms
        backfill.objects.create(
            cluster_id=state.cluster_id, from_ms=from_ms, to_ms=to_ms, next_ms=from_ms
        )


def move_back(apps: Any, schema_editor: Any) -> None:
    states = apps.get_model("monitoring", "PipelineState").objects
    for row in apps.get_model("monitoring", "Backfill").objects.all():
        states.filter(cluster_id=row.cluster_id).update(
            backfill_from_ms=row.from_ms, backfill_to_ms=row.to_ms, backfill_next_ms=row.next_ms
        )


class Migration(migrations.Migration):

    dependencies = [
        ('monitoring', '0015_alert_threshold'),
    ]

    operations = [
        migrations.CreateModel(
            name='Backfill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_ms', models.BigIntegerField()),
                ('to_ms', models.BigIntegerField()),
                ('next_ms', models.BigIntegerField()),
                ('cluster', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='monitoring.cluster')),
            ],
        ),
        migrations.RunPython(move_running, move_back),
        migrations.RemoveField(model_name='pipelinestate', name='backfill_from_ms'),
        migrations.RemoveField(model_name='pipelinestate', name='backfill_to_ms'),
        migrations.RemoveField(model_name='pipelinestate', name='backfill_next_ms'),
        migrations.RemoveField(model_name='pipelinestate', name='disk_free_bytes'),
        migrations.RemoveField(model_name='pipelinestate', name='disk_total_bytes'),
    ]
