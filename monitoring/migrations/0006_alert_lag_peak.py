from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("monitoring", "0005_kafka_cluster_id"),
    ]

    operations = [
        migrations.AddField(
            model_name="alert",
            name="lag_peak",
            field=models.BigIntegerField(null=True),
        ),
    ]
