"""`manage.py newkey`: begin again with a key for secrets, where the old one is lost for good."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from monitoring import secretfiles


class Command(BaseCommand):
    help = "Makes a key for secrets where the old one is lost; they must be entered again then."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(settings.AERIE_SECRET_KEY_FILE)
        if secretfiles.read(path):
            sys.exit(f"aerie: {path} holds a key. To change it, put a new one on top of it.")
        secretfiles.ensure(path, secretfiles.fernet_key)
        self.stdout.write(
            f"Made a key in {path}. Enter again what was sealed with the old one: tokens of "
            "clusters, webhooks of alert rules."
        )
