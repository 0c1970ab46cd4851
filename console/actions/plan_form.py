"""What the forms of all changes share: the way from a valid form to its plan."""

from collections.abc import Callable

from django import forms
from django.utils.translation import gettext as _

from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError

REFUSED, UNAVAILABLE = 422, 503


def plan_of(form: forms.Form, propose: Callable[[], Plan]) -> tuple[Plan | None, int]:
    """The plan of a valid form. If there is none, the form says why; then the second value is the
    HTTP status of its page."""
    try:
        return propose(), REFUSED
    except PlanRefused as error:
        form.add_error(None, str(error))
        return None, REFUSED
    except GatewayError as error:
        form.add_error(None, unreadable_text(error))
        return None, status_of(error)


def status_of(error: GatewayError) -> int:
    """The HTTP status of a page whose cluster could not be read."""
    return UNAVAILABLE if error.retriable else REFUSED


def unreadable_text(error: GatewayError) -> str:
    return _("The cluster could not be read: %(why)s") % {"why": sentence(error.message)}


def read_only_text() -> str:
    return _("This cluster is read-only in this console. An admin can change that under Clusters.")
