"""Move partitions to other brokers, or change the number of their replicas.

Parameters: `names` of the topics, `moves` by key (moves.py), and `throttle` in bytes per second or
None. The cluster copies the replicas; `apply` starts that and watches the progress. When all moves
have ended, it removes the throttle.
"""

import time
from typing import Any

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, ApplyProgress, ItemsAction, Params, Unfinished
from console.actions.draft import Draft, Facts, Proposal
from console.actions.models import Plan
from console.reassignments import current_replicas, moves, reassignment_draft, replication_throttle
from console.reassignments.actions.partitions_target import PARTITIONS_TARGET
from console.reassignments.moves import Move, MoveState
from console.topics.actions.topic_target import names_as_resource
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.topic_partition import partition_key
from monitoring.read_model.snapshot import Snapshot

WATCH_S, POLL_S = 30.0, 1.0  # how long one call of `apply` watches the progress, and how often
# A move that is not in progress may be done all the same: brokers learn of the end of a
# reassignment some time after the controller.
END_DELAY_S = 15.0


class ReassignPartitions(ItemsAction):
    action = "topics.reassign"
    verb = "topic.reassign"
    target_type = PARTITIONS_TARGET
    form_page = "reassign"
    has_target_page = False  # its form has the topics in the query
    continues_without_worker = True

    def title(self, resource: str) -> str:
        return _("Reassign partitions")

    def confirm_label(self) -> str:
        return _("Reassign partitions")

    def targets(self, resource: str, params: Params) -> list[str]:
        return list(params.get("names") or [resource])

    def items(self, params: Params) -> list[str]:
        return list(params.get("moves") or ())

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The replicas that are compared, and what the review shows about them."""
        gateway.reassignments.check_supported()
        state = current_replicas.read(gateway, params["names"])
        planned = {key: Move.from_json(stored) for key, stored in params["moves"].items()}
        keys = [(move.topic, move.partition) for move in planned.values()]
        sizes = gateway.reassignments.sizes([key for key in keys if key in state.partitions])
        return {
            ITEMS: {key: _fact(state, move) for key, move in planned.items()},
            "up": sorted(state.racks),
            "sizes": {key: moves.size_of(move, sizes.sizes) for key, move in planned.items()},
            "arriving": {
                str(broker): size
                for broker, size in moves.bytes_by_broker(planned.values(), sizes).items()
            },
            "free": {str(broker): size for broker, size in sizes.free.items()},
            "min_insync": {name: _min_insync(gateway, name) for name in params["names"]},
        }

    def compared(self, facts: Facts) -> Facts:
        return {ITEMS: facts.get(ITEMS)}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("The replicas of “%(name)s” changed since the review.")
        return [text % {"name": key} for key in self.changed_items(then, now)]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        planned = [Move.from_json(stored) for stored in params["moves"].values()]
        reassignment_draft.check(planned, facts)
        names = names_as_resource(params["names"])
        return Draft(
            title=_("Reassign partitions of %(names)s") % {"names": names},
            changes=[
                reassignment_draft.change(move, facts["sizes"].get(move.key)) for move in planned
            ],
            figures=reassignment_draft.figures(planned, facts),
            affected=[_("Producers and consumers go on. Leaders may change.")],
            warnings=reassignment_draft.warnings(planned, facts, params["throttle"]),
            undo=_("Reassign the partitions to the brokers that they were on."),
            before={move.key: list(move.before) for move in planned},
            after={move.key: list(move.after) for move in planned},
        )

    def undo(self, plan: Plan) -> Proposal | None:
        planned = [Move.from_json(stored) for stored in plan.params.get("moves", {}).values()]
        reversed_moves = [move.reversed() for move in planned if move.key in plan.applied_items]
        if not reversed_moves:
            return None
        params = params_of(reversed_moves, plan.params["throttle"])
        return Proposal(self.action, names_as_resource(params["names"]), params)

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        planned = [Move.from_json(stored) for stored in params["moves"].values()]
        remaining = [move for move in planned if move.key not in progress.applied_items]
        if not progress.was_begun:
            remaining = _start(gateway, remaining, params["throttle"], progress)
        progress.start_step(ITEMS)
        deadline = time.monotonic() + WATCH_S
        not_moving_since_s: dict[str, float] = {}  # by the keys of moves
        while remaining := _still_moving(gateway, remaining, not_moving_since_s, progress):
            if time.monotonic() > deadline:
                raise Unfinished
            time.sleep(POLL_S)
        if params["throttle"]:
            _remove_throttle(gateway, planned)

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Any:
        raise NotImplementedError  # `apply` ends items when the cluster has moved them


def params_of(planned: list[Move], throttle: int | None) -> dict[str, Any]:
    """The parameters of the plan."""
    return {
        "names": sorted({move.topic for move in planned}),
        "moves": {move.key: move.as_json() for move in planned},
        "throttle": throttle,
    }


def _fact(state: current_replicas.ClusterState, move: Move) -> dict[str, Any] | None:
    key = (move.topic, move.partition)
    found = state.partitions.get(key)
    if found is None:
        return None
    replicas = moves.comparable_replicas(found.replicas, state.running.get(key), move)
    return {"topic_id": found.topic_id, "replicas": list(replicas)}


def _min_insync(gateway: Gateway, name: str) -> int | None:
    values = {each.name: each.value for each in gateway.topics.describe_configs(name)}
    value = values.get("min.insync.replicas") or ""
    return int(value) if value.isdigit() else None


def _start(
    gateway: Gateway, remaining: list[Move], throttle: int | None, progress: ApplyProgress
) -> list[Move]:
    """Set the throttle and start the reassignments; returns those that were accepted."""
    if throttle:
        _set_throttle(gateway, remaining, throttle)
    targets = {(move.topic, move.partition): move.after for move in remaining}
    try:
        errors = gateway.reassignments.alter(targets)
    except GatewayError as error:
        if throttle and not error.retriable:
            _remove_throttle(gateway, remaining)
        raise
    for (topic, partition), why in errors.items():
        progress.end_item(partition_key(topic, partition), why)
    return [move for move in remaining if (move.topic, move.partition) not in errors]


def _still_moving(
    gateway: Gateway,
    remaining: list[Move],
    not_moving_since_s: dict[str, float],
    progress: ApplyProgress,
) -> list[Move]:
    """Report the moves that have ended; returns the others."""
    if not remaining:
        return []
    state = current_replicas.read(gateway, sorted({move.topic for move in remaining}))
    moving = []
    for move in remaining:
        key = (move.topic, move.partition)
        found = state.partitions.get(key)
        move_state = moves.state_of(move, found.replicas if found else (), state.running.get(key))
        if move_state is MoveState.DONE:
            progress.end_item(move.key)
            continue
        if move_state is MoveState.NOT_MOVING:
            now_s = time.monotonic()
            if now_s - not_moving_since_s.setdefault(move.key, now_s) >= END_DELAY_S:
                progress.end_item(move.key, Reason("reassignment_stopped"))
                continue
        moving.append(move)
    return moving


def _set_throttle(gateway: Gateway, planned: list[Move], rate: int) -> None:
    for topic, configs in replication_throttle.throttled_replicas(planned).items():
        gateway.topics.alter_configs(topic, configs)
    rates = {
        replication_throttle.LEADER_RATE: str(rate),
        replication_throttle.FOLLOWER_RATE: str(rate),
    }
    for broker in replication_throttle.throttled_brokers(planned):
        gateway.broker_configs.alter(broker, rates)


def _remove_throttle(gateway: Gateway, planned: list[Move]) -> None:
    """Remove the throttle settings; raises GatewayError if some could not be removed."""
    failures = []
    for broker in replication_throttle.throttled_brokers(planned):
        rates = {replication_throttle.LEADER_RATE: None, replication_throttle.FOLLOWER_RATE: None}
        try:
            gateway.broker_configs.alter(broker, rates)
        except GatewayError as error:
            failures.append(error)
    for topic in replication_throttle.throttled_replicas(planned):
        names = {
            replication_throttle.LEADER_REPLICAS: None,
            replication_throttle.FOLLOWER_REPLICAS: None,
        }
        try:
            gateway.topics.alter_configs(topic, names)
        except GatewayError as error:
            failures.append(error)
    if failures:
        raise GatewayError(Reason("throttle_stays", why=failures[0].message))
