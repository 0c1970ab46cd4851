"""The Django app `console.reassignments`."""

from django.apps import AppConfig


class ReassignmentsConfig(AppConfig):
    name = "console.reassignments"

    def ready(self) -> None:
        from console.actions.registry import register
        from console.reassignments.actions.cancel import CancelReassignments
        from console.reassignments.actions.elect import ElectLeaders
        from console.reassignments.actions.reassign import ReassignPartitions
        from console.reassignments.plan_outcome_texts import TEXTS
        from monitoring.error_reason import add_texts

        add_texts(TEXTS)
        register(ReassignPartitions())
        register(CancelReassignments())
        register(ElectLeaders())
