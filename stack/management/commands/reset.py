"""`manage.py reset`: empty the data folder."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from stack.shutdown import Refused, reset


class Command(BaseCommand):
    help = "Deletes all data: records, history, accounts, passwords. Refuses while a stack runs."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(reset(settings.AERIE_DATA))
        except (Refused, OSError) as error:
            sys.exit(f"aerie: {error}")
