"""`manage.py down`: stop a stack from another terminal, or its leftover processes."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from stack.shutdown import Refused, down


class Command(BaseCommand):
    help = "Stops the stack of this data folder."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(down(settings.AERIE_DATA))
        except (Refused, OSError) as error:
            sys.exit(f"aerie: {error}")
