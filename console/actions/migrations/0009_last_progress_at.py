from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("actions", "0008_one_word_for_one_thing")]

    operations = [migrations.RenameField("plan", "moved_at", "last_progress_at")]
