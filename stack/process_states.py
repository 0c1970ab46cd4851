"""The states of a process of the stack, and the table of transitions.

    WAITING --due--> STARTING --answered--> READY
                      |  ^  |                 |
                      |  |  +--completed--> DONE (a task that ends by itself)
                 exited  due                exited
                      v  |                    |
                     BACKOFF <----------------+

`stop` leads from every state to STOPPED, through STOPPING if a process runs. A pair of state and
event that is not in the table is a bug of the caller.
"""

from enum import StrEnum


class State(StrEnum):
    """The state of a process."""

    WAITING = "waiting"  # for the processes that must be ready first
    STARTING = "starting"  # runs; its probe has not succeeded yet
    READY = "ready"
    DONE = "done"  # a one-shot task that succeeded
    BACKOFF = "backoff"  # ended unexpectedly; is restarted later
    STOPPING = "stopping"  # SIGTERM was sent
    STOPPED = "stopped"


class Event(StrEnum):
    """What happens to a process."""

    DUE = "due"
    ANSWERED = "answered"
    COMPLETED = "completed"
    EXITED = "exited"
    STOP = "stop"


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.WAITING, Event.DUE): State.STARTING,
    (State.WAITING, Event.STOP): State.STOPPED,
    (State.STARTING, Event.ANSWERED): State.READY,
    (State.STARTING, Event.COMPLETED): State.DONE,
    (State.STARTING, Event.EXITED): State.BACKOFF,
    (State.STARTING, Event.STOP): State.STOPPING,
    (State.READY, Event.EXITED): State.BACKOFF,
    (State.READY, Event.STOP): State.STOPPING,
    (State.DONE, Event.STOP): State.STOPPED,
    (State.BACKOFF, Event.DUE): State.STARTING,
    (State.BACKOFF, Event.STOP): State.STOPPED,
    (State.STOPPING, Event.EXITED): State.STOPPED,
}

# States in which an operating-system process exists.
RUNNING = frozenset({State.STARTING, State.READY, State.STOPPING})
# States that satisfy `after` of other processes.
SETTLED = frozenset({State.READY, State.DONE})
