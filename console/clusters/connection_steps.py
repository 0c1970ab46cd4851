"""The steps of a connection test: which passed, which failed, which were not reached.

Pure. A test stops at the first step that fails.
"""

from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as _

from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.models import Cluster


class Step(StrEnum):
    """The steps of a test, in order."""

    SETTINGS = "settings"
    TOKEN = "token"
    NAME = "name"
    PORT = "port"
    TLS = "tls"
    LOGIN = "login"
    BROKERS = "brokers"
    RIGHTS = "rights"
    REGISTRY = "registry"


PASSED, WARNING, FAILED, NOT_REACHED = "passed", "warning", "failed", "not-reached"


@dataclass(frozen=True, slots=True)
class StepResult:
    step: Step
    title: str
    state: str


def steps(cluster: Cluster, failed: Step | None, *, lacks_rights: bool) -> list[StepResult]:
    """The steps that a test of this cluster has. `failed` = the one that failed.

    `lacks_rights`: the cluster does not allow its login all operations that the console needs.
    """
    state, found = PASSED, []
    for step in _steps_of(cluster, failed):
        if step == failed:
            state = FAILED
        elif state == FAILED:
            state = NOT_REACHED
        is_warning = step == Step.RIGHTS and lacks_rights and state == PASSED
        found.append(StepResult(step, _title(step), WARNING if is_warning else state))
    return found


def _steps_of(cluster: Cluster, failed: Step | None) -> list[Step]:
    needed = {
        Step.SETTINGS: failed == Step.SETTINGS,  # of interest only if they are wrong
        Step.TOKEN: cluster.uses_sasl and cluster.sasl_mechanism == OAUTHBEARER,
        Step.TLS: cluster.uses_tls,
        Step.LOGIN: cluster.uses_sasl,
        Step.REGISTRY: bool(cluster.registry_url),
    }
    return [step for step in Step if needed.get(step, True)]


def _title(step: Step) -> str:
    return {
        Step.SETTINGS: _("Settings"),
        Step.TOKEN: _("Access token"),
        Step.NAME: _("Host name"),
        Step.PORT: _("Port"),
        Step.TLS: _("TLS"),
        Step.LOGIN: _("Login"),
        Step.BROKERS: _("Brokers"),
        Step.RIGHTS: _("Rights"),
        Step.REGISTRY: _("Schema registry"),
    }[step]
