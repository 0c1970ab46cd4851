"""The Django app `console.produce`."""

from django.apps import AppConfig


class ProduceConfig(AppConfig):
    name = "console.produce"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.produce.actions.copy_records import CopyRecords
        from console.produce.actions.mock_records import WriteMockRecords
        from console.produce.actions.write_records import WriteRecords
        from console.produce.plan_outcome_texts import TEXTS
        from monitoring.error_reason import add_texts

        add_texts(TEXTS)
        register(WriteRecords())
        register(WriteMockRecords())
        register(CopyRecords())
