import console.accounts.models
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="rolegrant",
            name="topics",
            field=models.JSONField(default=console.accounts.models.every_name),
        ),
        migrations.AddField(
            model_name="rolegrant",
            name="groups",
            field=models.JSONField(default=console.accounts.models.every_name),
        ),
    ]
