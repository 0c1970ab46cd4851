"""The Django app `console.produce`."""

from django.apps import AppConfig


class ProduceConfig(AppConfig):
    name = "console.produce"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.produce.copy_records import CopyRecords
        from console.produce.mock_records import WriteMockRecords
        from console.produce.reasons import TEXTS
        from console.produce.write_records import WriteRecords
        from monitoring.reasons import add_texts

        add_texts(TEXTS)
        register(WriteRecords())
        register(WriteMockRecords())
        register(CopyRecords())
