"""What brokers write down that they cannot serve."""

from brokerd.cluster.offline import NODE_BYTES_MAX, decode, encode


def test_replicas_are_written_by_topic() -> None:
    (data,) = encode({("b", 7), ("a", 10), ("a", 2)})
    assert data == b'{"version":1,"topics":{"a":[2,10],"b":[7]}}'
    assert decode(data) == [("a", 2), ("a", 10), ("b", 7)]
    assert encode(set()) == []


def test_as_many_nodes_are_written_as_it_takes() -> None:
    replicas = {("t" * 200 + str(topic), index) for topic in range(500) for index in range(80)}
    nodes = encode(replicas)
    assert len(nodes) > 1
    assert max(map(len, nodes)) <= NODE_BYTES_MAX
    assert {replica for data in nodes for replica in decode(data)} == replicas
