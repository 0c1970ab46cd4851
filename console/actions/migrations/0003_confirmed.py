from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("actions", "0002_moved_at")]

    operations = [
        migrations.AddField(
            "plan", "confirmed_by", models.CharField(blank=True, default="", max_length=150)
        ),
        migrations.AddField(
            "plan", "confirmed_addr", models.CharField(blank=True, default="", max_length=64)
        ),
    ]
