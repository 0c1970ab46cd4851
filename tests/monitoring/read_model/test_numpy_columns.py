import pyarrow as pa

from monitoring.read_model.numpy_columns import Names


def test_names_of_the_previous_tick_are_reused_if_equal():
    first = Names(pa.array(["b", "a"]))
    assert Names.of(pa.array(["b", "a"]), first) is first
    other = Names.of(pa.array(["a", "c"]), first)
    assert (other.all, other.codes_in(first).tolist()) == (["a", "c"], [1, -1])
    assert (first.order.tolist(), first.position.tolist()) == ([1, 0], [1, 0])
