"""The Django app `console.schemas`."""

from django.apps import AppConfig


class SchemasConfig(AppConfig):
    name = "console.schemas"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.schemas.actions.delete_version import DeleteVersion
        from console.schemas.actions.register_schema import RegisterSchema
        from console.schemas.actions.set_compatibility import SetCompatibility

        for each in (RegisterSchema(), SetCompatibility(), DeleteVersion()):
            register(each)
