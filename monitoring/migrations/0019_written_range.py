from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0018_cluster_events")]

    operations = [
        migrations.AddField(
            model_name="pipelinestate",
            name=name,
            field=models.BigIntegerField(null=True),
        )
        for name in ("written_from_ms", "written_to_ms")
    ]
