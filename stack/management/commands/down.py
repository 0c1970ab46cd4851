"""`manage.py down`: stop a stack that runs elsewhere or was left behind."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from stack.shutdown import Refused, down


class Command(BaseCommand):
    help = "Stops the stack of this data folder, wherever it was started from."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(down(settings.AERIE_DATA))
        except (Refused, OSError) as error:
            sys.exit(f"aerie: {error}")
