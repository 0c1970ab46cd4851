"""How a view asks for a right: `@requires("topic.view")`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from console.accounts.requests import UserRequest
from console.accounts.rights import Rights, is_closed, is_hidden, rights_of
from monitoring.topic_names import is_topic_name

View = Callable[..., HttpResponse]


def no_topic(name: str) -> Http404:
    """What is raised for a topic that is not there, and for one that may not be known of."""
    if not is_topic_name(name):  # nothing that a topic is called, nor fit to be repeated
        return Http404(_("There is no such topic here."))
    return Http404(_("There is no topic “%(name)s” here.") % {"name": name})


def _refusal(rights: Rights, verb: str, name: str | None) -> str:
    told = {"role": rights.role or _("none"), "verb": verb, "name": name}
    if name is not None and is_closed(verb, name):
        return (
            _(
                "Your role (%(role)s) does not include reading the records of “%(name)s”: they "
                "name what only admins may see."
            )
            % told
        )
    return _("Your role (%(role)s) does not include “%(verb)s”. Ask an admin.") % told


def requires(verb: str, resource: str | None = None) -> Callable[[View], View]:
    """Lets a view run only for a user who may do `verb`.

    The cluster is `request.cluster` (set by ClusterMiddleware from the URL), else none. With
    `resource="topic"` the right is asked for the topic named by that argument of the view. A
    resource whose very name is hidden from the user answers 404, as if it were not there; any
    other refusal is a 403 that says which right is missing.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            name = kwargs.get(resource) if resource else None
            rights = rights_of(request.user, getattr(request, "cluster", None))
            if not rights.may(verb, name):
                if name is not None and is_hidden(verb, name):
                    raise no_topic(name)
                raise PermissionDenied(_refusal(rights, verb, name))
            request.rights = rights
            return view(request, *args, **kwargs)

        return checked

    return decorate
