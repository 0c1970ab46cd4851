"""Topic names: Kafka's rules."""

import pytest

from brokerd.cluster.topic_names import check_collision, check_topic_name, collision_keys
from brokerd.errors import ErrorCode, KafkaError


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "x" * 249, "...", "__consumer_offsets"])
def test_a_legal_name_passes(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "x" * 250, "a/b", "a b", "ä", "a\n", "a\0", "a:b", "a,b"]
)
def test_an_illegal_name_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(KafkaError, match="Topic name is invalid") as refused:
        check_topic_name(name)
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize(("name", "existing"), [("a.b", "a_b"), ("a_b", "a.b"), ("a.b_c", "a_b.c")])
def test_names_that_differ_only_by_dot_and_underscore_collide(name: str, existing: str) -> None:
    with pytest.raises(KafkaError, match=f"collides with existing topic '{existing}'") as refused:
        check_collision(name, collision_keys([existing, "other"]))
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize(("name", "existing"), [("a.b", "a.b"), ("a.b", "ab"), ("a-b", "a.b")])
def test_other_names_do_not_collide(name: str, existing: str) -> None:
    check_collision(name, collision_keys([existing]))
