"""`manage.py up`: run the stack in the foreground until Ctrl-C."""

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from stack import external_services
from stack.config import StackConfig
from stack.data_folder_lock import AlreadyRunning
from stack.launch import make_folders, up
from stack.preparation import NotReady
from stack.procfile_parser import ProcfileError


class Command(BaseCommand):
    help = "Starts every process of the Procfile and keeps them running; Ctrl-C stops them all."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--without",
            default="",
            metavar="NAMES",
            help="names of the Procfile to leave out, separated by commas (demo,spark)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # inherited by all processes: only the owner can read files
        without = [name for name in options["without"].split(",") if name]
        config = StackConfig.from_settings(settings)
        try:
            make_folders(config, settings.HISTORY_URL)
            up(config, without, external_services.from_settings(settings))
        except AlreadyRunning as error:
            sys.exit(f"aerie: {error}. Stop it with Ctrl-C there, or with make down.")
        except (NotReady, ProcfileError, OSError) as error:
            sys.exit(f"aerie: {error}")
