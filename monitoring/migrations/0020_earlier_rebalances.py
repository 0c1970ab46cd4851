from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0019_written_range")]

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
