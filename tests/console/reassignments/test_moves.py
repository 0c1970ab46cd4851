"""What moves, and how many bytes."""

import pytest

from console.reassignments import moves
from console.reassignments.moves import Move, MoveState
from monitoring.gateway.reassignment_requests import ReplicaSizes
from monitoring.gateway.wire.reassignments import Reassignment

MOVE = Move("orders", 0, (1, 2), (2, 3))
RUNNING = Reassignment("orders", 0, (2, 3, 1), (3,), (1,))
OTHER = Reassignment("orders", 0, (4, 1, 2), (4,), (1, 2))


def test_a_move_survives_being_stored():
    assert Move.from_json(MOVE.as_json()) == MOVE
    assert MOVE.reversed().reversed() == MOVE


@pytest.mark.parametrize(
    ("replicas", "running", "state", "comparable_replicas"),
    [
        ((1, 2), None, MoveState.NOT_MOVING, (1, 2)),
        ((2, 3, 1), RUNNING, MoveState.MOVING, (1, 2)),
        ((2, 3), None, MoveState.DONE, (1, 2)),
        ((4, 1, 2), OTHER, MoveState.NOT_MOVING, (1, 2)),
        ((5, 6), None, MoveState.NOT_MOVING, (5, 6)),
    ],
)
def test_the_state_of_a_move_and_the_replicas_to_compare(
    replicas, running, state, comparable_replicas
):
    assert moves.state_of(MOVE, replicas, running) is state
    assert moves.comparable_replicas(replicas, running, MOVE) == comparable_replicas


def test_a_broker_gets_the_bytes_of_each_replica_that_is_added_to_it():
    others = [Move("orders", 1, (1,), (3, 1)), Move("orders", 2, (1,), (2,))]
    told = ReplicaSizes({("orders", 0): {1: 100, 2: 90}, ("orders", 1): {1: 7}}, {})
    assert moves.bytes_by_broker([MOVE, *others], told) == {2: None, 3: 107}
