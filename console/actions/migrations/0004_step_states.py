from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("actions", "0003_confirmed")]

    operations = [migrations.AddField("plan", "step_states", models.JSONField(default=dict))]
