"""The life of one process of the stack, as a table.

    WAITING --due--> STARTING --answered--> READY
       ^                |  |                  |
       |                |  +--completed--> DONE (a task that ends by itself)
       |             exited                exited
       |                v                     v
       +--- (never)   BACKOFF <---------------+
                        |
                        +--due--> STARTING

`stop` leads from everywhere to GONE, by way of STOPPING where there is a process to end. A pair of
state and event that the table lacks is a bug of the caller.
"""

from enum import StrEnum


class State(StrEnum):
    """Where a process is in its life."""

    WAITING = "waiting"  # for those that must be ready before it
    STARTING = "starting"  # runs, does not answer yet
    READY = "ready"
    DONE = "done"  # a one-shot task that ended well
    BACKOFF = "backoff"  # died; starts again later
    STOPPING = "stopping"  # was asked to end
    GONE = "gone"


class Event(StrEnum):
    """What happens to a process."""

    DUE = "due"
    ANSWERED = "answered"
    COMPLETED = "completed"
    EXITED = "exited"
    STOP = "stop"


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.WAITING, Event.DUE): State.STARTING,
    (State.WAITING, Event.STOP): State.GONE,
    (State.STARTING, Event.ANSWERED): State.READY,
    (State.STARTING, Event.COMPLETED): State.DONE,
    (State.STARTING, Event.EXITED): State.BACKOFF,
    (State.STARTING, Event.STOP): State.STOPPING,
    (State.READY, Event.EXITED): State.BACKOFF,
    (State.READY, Event.STOP): State.STOPPING,
    (State.DONE, Event.STOP): State.GONE,
    (State.BACKOFF, Event.DUE): State.STARTING,
    (State.BACKOFF, Event.STOP): State.GONE,
    (State.STOPPING, Event.EXITED): State.GONE,
}

# States in which an operating-system process exists.
RUNNING = frozenset({State.STARTING, State.READY, State.STOPPING})
# States that those which come after may build on.
SETTLED = frozenset({State.READY, State.DONE})
