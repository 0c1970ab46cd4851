"""When a broker is said to be overloaded, or to have much more to do than the others."""

from console.brokers.broker_warnings import disk_tone, warnings_by_broker
from monitoring.read_model.row_types import BrokerRow

MIB = 1 << 20


def a_broker(broker_id: int, **changes: object) -> BrokerRow:
    values = dict.fromkeys(BrokerRow.__dataclass_fields__)
    known = {"id": broker_id, "host": "h", "up": True, "leaders": 100, "log_dirs": ()}
    return BrokerRow(**(values | known | changes))


def titles(*brokers: BrokerRow) -> list[list[str]]:
    found = warnings_by_broker(brokers)
    return [[each.title for each in found[row.id]] for row in brokers]


def test_nothing_is_said_of_a_broker_of_which_nothing_is_known():
    assert titles(a_broker(1), a_broker(2)) == [[], []]


def test_a_broker_whose_process_uses_a_whole_core_is_overloaded():
    busy, idle = a_broker(1, cpu_cores_recent=0.97), a_broker(2, cpu_cores_recent=0.89)
    assert titles(busy, idle) == [["CPU 97.0\u202f%"], []]
    assert "90.0" in warnings_by_broker([busy])[1][0].text


def test_a_disk_has_a_tone_from_its_limits_on():
    tones = [disk_tone(percent) for percent in (None, 84.9, 85, 94.9, 95)]
    assert tones == ["", "", "warn", "warn", "bad"]


def test_a_disk_nearly_full_is_bad_and_comes_first():
    both = a_broker(1, cpu_cores_recent=1.0, disk_total_bytes=1000, disk_free_bytes=40)
    assert [each.tone for each in warnings_by_broker([both])[1]] == ["bad", "warn"]


def test_more_leaders_than_the_others_are_said_with_the_factor():
    one, two, three = a_broker(1, leaders=160), a_broker(2, leaders=70), a_broker(3, leaders=70)
    assert titles(one, two, three) == [["1.6 × leaders"], [], []]


def test_a_small_difference_and_a_broker_that_is_down_are_no_skew():
    assert titles(a_broker(1, leaders=9), a_broker(2, leaders=1)) == [[], []]
    assert titles(a_broker(1, leaders=100), a_broker(2, leaders=0, up=False)) == [[], []]


def test_more_bytes_than_the_others_are_said_unless_one_is_unknown():
    quiet = {"bytes_in_rate": MIB, "bytes_out_rate": MIB}
    loud = a_broker(1, bytes_in_rate=9 * MIB, bytes_out_rate=MIB)
    assert titles(loud, a_broker(2, **quiet)) == [["1.7 × bytes"], []]
    assert titles(loud, a_broker(2)) == [[], []]
