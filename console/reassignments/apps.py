"""The Django app `console.reassignments`."""

from django.apps import AppConfig


class ReassignmentsConfig(AppConfig):
    name = "console.reassignments"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.reassignments.cancel import CancelReassignments
        from console.reassignments.elect import ElectLeaders
        from console.reassignments.reassign import ReassignPartitions

        register(ReassignPartitions())
        register(CancelReassignments())
        register(ElectLeaders())
