from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_action")]

    operations = [migrations.AddField("auditentry", "plan", models.UUIDField(null=True))]
