from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("actions", "0001_initial")]

    operations = [
        migrations.RemoveField("plan", "finished_at"),
        migrations.RenameField("plan", "applied_at", "moved_at"),
    ]
