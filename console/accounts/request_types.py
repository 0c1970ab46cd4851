"""Types of the requests that views with `@requires` get. For type checkers only.

`rights` and `principal` are set by `@requires`, `cluster` by ClusterMiddleware from the URL: a view
of a URL without a cluster takes a UserRequest.
"""

from django.contrib.auth.models import User
from django.http import HttpRequest

from console.accounts.principal import Principal
from console.accounts.rights import Rights
from monitoring.models import Cluster


class UserRequest(HttpRequest):
    """A request of a signed-in user with the view's right."""

    user: User
    rights: Rights
    principal: Principal


class ClusterRequest(UserRequest):
    """A request under `/c/<cluster>/`, for a cluster that the user may see."""

    cluster: Cluster
