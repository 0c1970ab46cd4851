"""The Django app `console.ui`."""

from django.apps import AppConfig

from console.ui import active_language


class UiConfig(AppConfig):
    name = "console.ui"

    def ready(self) -> None:
        active_language.use_no_lock()
