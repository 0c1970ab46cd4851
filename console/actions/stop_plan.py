"""Stops a plan while it is applied: its worker ends it at the next StopPoint (action_type.py)."""

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import models, registry, services
from console.actions.draft import PlanRefused
from console.actions.finish_plan import finish_stopped
from console.actions.models import Plan
from monitoring.models import Cluster


def can_stop(plan: Plan) -> bool:
    """Whether a user may still ask for the stop of the plan."""
    return plan.is_open and not plan.stopped_by and registry.find(plan.action).can_stop


def stop(plan: Plan, principal: Principal) -> bool:
    """Ask the worker to stop the plan; a plan that no worker has begun is stopped at once.

    False if it has ended, or a user asked before. Raises PlanRefused, but not because the cluster
    became read-only: stopping writes nothing.
    """
    if not registry.find(plan.action).can_stop:
        raise PlanRefused(_("A plan of this kind cannot be stopped."))
    cluster = Cluster.objects.filter(slug=plan.cluster).first()
    if cluster is not None:
        services.check_right(principal.user, cluster, plan.action, plan.resource, plan.params)
    asked = Plan.objects.filter(
        pk=plan.pk, state__in=(models.QUEUED, models.APPLYING), stopped_by=""
    ).update(stopped_by=principal.user.get_username(), stopped_addr=principal.address)
    if asked:
        plan.refresh_from_db()
        finish_stopped(plan, models.QUEUED)  # does nothing if a worker applies the plan
    return bool(asked)
