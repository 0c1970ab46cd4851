"""Which partition keeps a group, against values of Java's own String.hashCode."""

from brokerd.coordinator.group.partition_for_group import java_string_hash, partition_for


def test_hashes_are_those_of_java() -> None:
    assert java_string_hash("") == 0
    assert java_string_hash("a") == 97
    assert java_string_hash("hello world") == 1794106052
    assert java_string_hash("polygenelubricants") == -(1 << 31)
    assert java_string_hash("\N{PILE OF POO}") == 1772556
    assert java_string_hash("ü") == 252


def test_a_hash_without_a_positive_counterpart_maps_to_partition_0() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_a_negative_hash_counts_by_its_absolute_value() -> None:
    group = "billing"
    assert java_string_hash(group) < 0
    assert partition_for(group, 50) == abs(java_string_hash(group)) % 50
