"""`Principal`: the user of a service call, for rights and the audit log.

Views get it from the request (`request.principal`); a later API makes it from a token. Services
take it and plain values, never a request (tests/console/test_services_take_no_request.py).
"""

from dataclasses import dataclass

from django.contrib.auth.models import User

from console.accounts.rights import Rights, rights_of
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class Principal:
    """A user and the client's address."""

    user: User
    address: str = ""

    def rights(self, cluster: Cluster | str | None = None) -> Rights:
        """The rights on a cluster, or outside of clusters."""
        return rights_of(self.user, cluster)

    def may(
        self, verb: str, cluster: Cluster | str | None = None, resource: str | None = None
    ) -> bool:
        """Whether the user may do `verb` on the cluster, to this topic or group."""
        return self.rights(cluster).may(verb, resource)
