from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0014_waiting_deliveries")]

    operations = [
        migrations.RenameField("alertrule", "lag_max", "threshold"),
        migrations.RenameField("alert", "lag_max", "threshold"),
    ]
