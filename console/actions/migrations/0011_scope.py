from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("actions", "0010_typed")]

    operations = [migrations.AddField("plan", "scope", models.JSONField(default=dict))]
