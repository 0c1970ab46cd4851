from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_stopped")]

    operations = [migrations.RenameField("auditentry", "verb", "action")]
