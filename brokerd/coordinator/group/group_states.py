"""The state machine of a consumer group, as two tables.

`TRANSITIONS` says which state follows an event; a pair that is not in it is a bug.
`ANSWERS` says what a request gets in each state, once the member and its generation were checked:
an error code, or the `Action` that carries it out.

    Empty ──rebalance──▶ PreparingRebalance ──joined──▶ CompletingRebalance ──assigned──▶ Stable
      ▲                    │  ▲      ▲                       │                              │
      └──────emptied───────┘  │      └───────rebalance───────┘                              │
                              └─────────────────────rebalance──────────────────────────────┘
    every state ──removed──▶ Dead

- Empty: no members; it may hold offsets.
- PreparingRebalance: members get REBALANCE_IN_PROGRESS and join again; joins are delayed.
- CompletingRebalance: every member knows the generation; the leader's assignment is awaited.
- Stable: every member can have its assignment.
- Dead: deleted, or this broker no longer coordinates it.
"""

from enum import Enum, auto

from brokerd.errors import ErrorCode


class GroupState(Enum):
    """Named as Kafka's tools show it."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Event(Enum):
    REBALANCE = auto()
    JOINED = auto()
    EMPTIED = auto()
    ASSIGNED = auto()
    REMOVED = auto()


class Request(Enum):
    """A request of a member, or about a group, whose answer depends on the state."""

    JOIN_NEW = auto()
    JOIN_AGAIN = auto()
    JOIN_STATIC = auto()
    SYNC = auto()
    HEARTBEAT = auto()
    MEMBER_GONE = auto()
    COMMIT = auto()
    DELETE_GROUP = auto()
    DELETE_OFFSETS = auto()


class Action(Enum):
    """What a handler does if the answer is not just an error code."""

    ACCEPT = auto()
    NOTHING = auto()
    REBALANCE = auto()
    REBALANCE_IF_CHANGED = auto()
    REBALANCE_IF_CHANGED_OR_LEADER = auto()
    REBALANCE_IF_PROTOCOL_CHANGES = auto()
    COMPLETE_JOIN_IF_ALL_HERE = auto()
    AWAIT_ASSIGNMENT = auto()
    GIVE_ASSIGNMENT = auto()
    UNLESS_SUBSCRIBED = auto()


_EMPTY = GroupState.EMPTY
_PREPARING = GroupState.PREPARING_REBALANCE
_COMPLETING = GroupState.COMPLETING_REBALANCE
_STABLE = GroupState.STABLE
_DEAD = GroupState.DEAD

TRANSITIONS: dict[tuple[GroupState, Event], GroupState] = {
    (_EMPTY, Event.REBALANCE): _PREPARING,
    (_EMPTY, Event.REMOVED): _DEAD,
    (_PREPARING, Event.JOINED): _COMPLETING,
    (_PREPARING, Event.EMPTIED): _EMPTY,
    (_PREPARING, Event.REMOVED): _DEAD,
    (_COMPLETING, Event.ASSIGNED): _STABLE,
    (_COMPLETING, Event.REBALANCE): _PREPARING,
    (_COMPLETING, Event.REMOVED): _DEAD,
    (_STABLE, Event.REBALANCE): _PREPARING,
    (_STABLE, Event.REMOVED): _DEAD,
    (_DEAD, Event.REMOVED): _DEAD,
}

Answer = ErrorCode | Action

ANSWERS: dict[Request, dict[GroupState, Answer]] = {
    Request.JOIN_NEW: {
        _EMPTY: Action.REBALANCE,
        _PREPARING: Action.COMPLETE_JOIN_IF_ALL_HERE,
        _COMPLETING: Action.REBALANCE,
        _STABLE: Action.REBALANCE,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    # A member whose metadata did not change may only have missed its answer: it gets it again.
    # A leader that joins again in Stable asks for a new assignment.
    Request.JOIN_AGAIN: {
        _EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
        _PREPARING: Action.COMPLETE_JOIN_IF_ALL_HERE,
        _COMPLETING: Action.REBALANCE_IF_CHANGED,
        _STABLE: Action.REBALANCE_IF_CHANGED_OR_LEADER,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    # A static member that comes back with a new member id. In CompletingRebalance the leader may
    # already assign to the old id, so all must join again (KAFKA-9801).
    Request.JOIN_STATIC: {
        _EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
        _PREPARING: Action.COMPLETE_JOIN_IF_ALL_HERE,
        _COMPLETING: Action.REBALANCE,
        _STABLE: Action.REBALANCE_IF_PROTOCOL_CHANGES,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    Request.SYNC: {
        _EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
        _PREPARING: ErrorCode.REBALANCE_IN_PROGRESS,
        _COMPLETING: Action.AWAIT_ASSIGNMENT,
        _STABLE: Action.GIVE_ASSIGNMENT,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    # Members may send heartbeats between their join and their sync.
    Request.HEARTBEAT: {
        _EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
        _PREPARING: ErrorCode.REBALANCE_IN_PROGRESS,
        _COMPLETING: ErrorCode.NONE,
        _STABLE: ErrorCode.NONE,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    Request.MEMBER_GONE: {
        _EMPTY: Action.NOTHING,
        _PREPARING: Action.COMPLETE_JOIN_IF_ALL_HERE,
        _COMPLETING: Action.REBALANCE,
        _STABLE: Action.REBALANCE,
        _DEAD: Action.NOTHING,
    },
    # While a rebalance is prepared members may still commit what they did; between join and sync
    # the partitions may already be another's.
    Request.COMMIT: {
        _EMPTY: Action.ACCEPT,
        _PREPARING: Action.ACCEPT,
        _COMPLETING: ErrorCode.REBALANCE_IN_PROGRESS,
        _STABLE: Action.ACCEPT,
        _DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    },
    Request.DELETE_GROUP: {
        _EMPTY: Action.ACCEPT,
        _PREPARING: ErrorCode.NON_EMPTY_GROUP,
        _COMPLETING: ErrorCode.NON_EMPTY_GROUP,
        _STABLE: ErrorCode.NON_EMPTY_GROUP,
        _DEAD: ErrorCode.GROUP_ID_NOT_FOUND,
    },
    Request.DELETE_OFFSETS: {
        _EMPTY: Action.ACCEPT,
        _PREPARING: Action.UNLESS_SUBSCRIBED,
        _COMPLETING: Action.UNLESS_SUBSCRIBED,
        _STABLE: Action.UNLESS_SUBSCRIBED,
        _DEAD: ErrorCode.GROUP_ID_NOT_FOUND,
    },
}


def next_state(state: GroupState, event: Event) -> GroupState:
    """The state after `event`. A pair that is not in the table is a bug: AssertionError."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise AssertionError(f"a group in {state.value} cannot take {event.name}") from None
