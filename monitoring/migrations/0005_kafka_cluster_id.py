from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0004_delivery_queued_at")]

    operations = [
        migrations.AddField(
            "cluster",
            "kafka_cluster_id",
            models.CharField(blank=True, default="", editable=False, max_length=200),
        ),
    ]
