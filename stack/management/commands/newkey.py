"""`manage.py newkey`: create a new key for secrets, when the old one is lost."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from monitoring import secret_files


class Command(BaseCommand):
    help = "Creates a new key for secrets when the old one is lost; enter all secrets again then."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(settings.AERIE_SECRET_KEY_FILE)
        if secret_files.read(path):
            sys.exit(f"aerie: {path} has a key. To rotate it, run manage.py rotate_key.")
        secret_files.ensure(path, secret_files.new_fernet_key)
        self.stdout.write(
            f"Made a key in {path}. Enter again what was encrypted with the old one: tokens, "
            "passwords and private keys of clusters, and webhooks of alert rules."
        )
