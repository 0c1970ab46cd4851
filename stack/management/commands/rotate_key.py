"""`manage.py rotate_key`: encrypt all secrets in the database with a new key."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from monitoring import secret_files
from monitoring.encryption import SecretUnreadable, missing_key_problem, reencrypt_all


class Command(BaseCommand):
    help = (
        "Adds a new key for secrets and encrypts all secrets with it. With --drop-old the old keys "
        "are removed then: do that when all processes and backups have the new key."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--drop-old", action="store_true", help="remove the old keys")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(settings.AERIE_SECRET_KEY_FILE)
        if problem := missing_key_problem():
            sys.exit(f"aerie: {problem}.")
        keys = secret_files.read(path).split()
        new_key = secret_files.new_fernet_key()
        # The old keys stay until all is encrypted anew: a crash loses nothing.
        secret_files.replace(path, "\n".join([new_key, *keys]))
        try:
            count = reencrypt_all()
        except SecretUnreadable as error:
            sys.exit(f"aerie: {error}. Nothing was changed but the new key in {path}.")
        if options["drop_old"]:
            secret_files.replace(path, new_key)
        self.stdout.write(f"Encrypted {count} secrets with a new key in {path}.")
