"""The request as a view behind `@requires` gets it. For type checkers: Django makes the requests.

`rights` and `principal` are set by `@requires`, `cluster` by ClusterMiddleware from the URL: a view
of a URL without a cluster takes a UserRequest.
"""

from django.contrib.auth.models import User
from django.http import HttpRequest

from console.accounts.principal import Principal
from console.accounts.rights import Rights
from monitoring.models import Cluster


class UserRequest(HttpRequest):
    """Of somebody who is signed in and has the view's right."""

    user: User
    rights: Rights
    principal: Principal


class ClusterRequest(UserRequest):
    """Under `/c/<cluster>/`, of a cluster that the user may see."""

    cluster: Cluster
