"""The decorator `@requires("topic.view")`, which checks a user's right."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.http.response import HttpResponseBase

from console.accounts.client_address import client_address
from console.accounts.error_texts import resource_not_found, right_missing
from console.accounts.principal import Principal
from console.accounts.request_types import UserRequest
from console.accounts.rights import rights_of

View = Callable[..., HttpResponseBase]


def requires(verb: str, resource: str | None = None) -> Callable[[View], View]:
    """Allow a view only for users with the right `verb`.

    The cluster is `request.cluster` (set by ClusterMiddleware from the URL), else none. With
    `resource="topic"` the right is checked for the topic in the URL argument `topic`. A resource
    outside the user's scope gets a 404, as if it did not exist; any other refusal is a 403 that
    names the missing right.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            name = kwargs.get(resource) if resource else None
            rights = rights_of(request.user, getattr(request, "cluster", None))
            if name is not None and not rights.shows(verb, name):
                raise Http404(resource_not_found(verb, name))
            if not rights.may(verb, name):
                raise PermissionDenied(right_missing(rights, verb, name))
            request.rights = rights
            request.principal = Principal(request.user, client_address(request))
            return view(request, *args, **kwargs)

        return checked

    return decorate
