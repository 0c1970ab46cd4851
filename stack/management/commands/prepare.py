"""`manage.py prepare`: migrate the database, delete expired sessions, collect the static
files, create the first rows.

The supervisor runs it at each start. It is idempotent.
"""

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import OperationalError

from console import static_files
from monitoring.encryption import missing_key_problem
from stack.config import StackConfig
from stack.seeding import seed


class Command(BaseCommand):
    help = "Migrates the database; creates the account admin and the cluster local."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._prepare()
        except OperationalError as error:
            reason = (str(error).splitlines() or ["no reason given"])[0]
            sys.exit(f"The database failed: {reason}")

    def _prepare(self) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        call_command("clearsessions", verbosity=0)
        static_files.collect()
        if problem := missing_key_problem():
            sys.exit(problem)
        for line in seed(StackConfig.from_settings(settings), settings.AERIE_ADMIN_PASSWORD):
            self.stdout.write(line)
