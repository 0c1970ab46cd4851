from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("actions", "0009_last_progress_at")]

    operations = [
        migrations.AddField(
            "plan", "typed", models.TextField(blank=True, default="", editable=False)
        )
    ]
