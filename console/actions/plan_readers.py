"""Who may read the plan of another user: operators and admins who see all that it may name.

A plan is made within the scope of its author: besides its targets it may name groups that are
affected, and topics of a group. So its scope is stored with it, and a reader's scope must contain
that. Pure.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from console.accounts.rights import Rights
from console.actions import registry
from console.actions.models import Plan
from monitoring import console_topics
from monitoring.scope import Scope


def scope_to_store(scope: Scope, contents: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The scope of a plan, as JSON, which decides who else may read it: its author's, without the
    console's own topics that the plan does not name. So operators, who do not see these topics, can
    read most plans of admins.
    """
    text = json.dumps(list(contents), ensure_ascii=False)
    unnamed = {name for name in console_topics.NAMES if name not in text}
    return {
        "topics": list(scope.topics),
        "groups": list(scope.groups),
        "hidden_topics": sorted(scope.hidden_topics | unnamed),
    }


def may_read(plan: Plan, rights: Rights) -> bool:
    """Whether a user with these rights may read the plan if another user made it.

    The rights are those on the plan's cluster. So what is of another cluster is for admins.
    """
    is_of_another = registry.find(plan.action).names_another_cluster(plan.params)
    return (
        rights.may("audit.view" if is_of_another else "plan.view")
        and rights.scope.contains(_scope(plan))
        and shows_targets(plan, rights)
    )


def shows_targets(plan: Plan, rights: Rights) -> bool:
    """Whether the user may see everything that the plan changes."""
    action_type = registry.find(plan.action)
    targets = action_type.targets(plan.resource, plan.params)
    return all(rights.may(action_type.target_type.view_verb, each) for each in targets)


def _scope(plan: Plan) -> Scope:
    stored = plan.scope
    if not stored:  # it was made before scopes were stored
        return Scope()
    hidden = frozenset(stored["hidden_topics"])
    return Scope(tuple(stored["topics"]), tuple(stored["groups"]), hidden)
