from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0018_cluster_events")]

    operations = [
        migrations.AddField("clusterevent", "count", models.PositiveIntegerField(null=True)),
        migrations.AlterField(
            "clusterevent",
            "kind",
            models.CharField(
                choices=[
                    ("rebalance", "Rebalance"),
                    ("rebalances", "Earlier rebalances"),
                    ("broker_left", "Broker left"),
                    ("broker_back", "Broker is back"),
                ],
                max_length=16,
            ),
        ),
    ]
