import numpy as np

from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.last_records import NO_RECORD
from monitoring.sampling import last_record_choice
from monitoring.sampling.last_record_choice import LastRecords
from tests.monitoring.gateway.wire.answers import decoded_metadata
from tests.monitoring.tick_factory import make_tick

PLACE = (1, (1,), (1,))


def reads_of(ends, starts=None, topics=None):
    """Of topic `a`, a partition for each end offset."""
    answers = ClusterAnswers.empty(
        decoded_metadata(topics or {"a": dict.fromkeys(range(len(ends)), PLACE)})
    )
    answers.log_end = np.array(ends)
    answers.log_start = np.array(starts or [0] * len(ends))
    return answers


def before(*rows, cluster_id="the-cluster", **more):
    """The tick before: (end offset, time, has newer records) of each partition of `a`."""
    partitions = [
        {
            "topic": "a",
            "partition": number,
            "log_end_offset": end,
            "last_record_ms": time_ms,
            "has_newer_records": has_newer,
        }
        | more
        for number, (end, time_ms, has_newer) in enumerate(rows)
    ]
    return make_tick(1, partitions=partitions, cluster_id=cluster_id)


def known(previous, answers):
    found = LastRecords.of(previous, answers)
    return found.rows_to_read().tolist(), found.times_ms.tolist(), found.has_newer.tolist()


def test_all_partitions_with_records_are_read_at_first():
    assert known(None, reads_of([5, 0, 7])) == ([0, 2], [-1, -1, -1], [True, False, True])


def test_an_idle_partition_keeps_its_time_and_is_not_read():
    assert known(before((5, 700, False)), reads_of([5])) == ([], [700], [False])


def test_a_partition_whose_end_moved_is_read():
    assert known(before((5, 700, False)), reads_of([6])) == ([0], [700], [True])


def test_a_partition_that_waited_is_read_although_it_is_idle_now():
    assert known(before((5, 700, True)), reads_of([5])) == ([0], [700], [True])


def test_what_was_read_is_the_time_of_the_last_record():
    found = LastRecords.of(before((5, 700, False)), reads_of([6]))
    found.add(np.array([800]))
    assert (found.times_ms.tolist(), found.has_newer.tolist()) == ([800], [False])


def test_without_an_answer_the_time_stays_and_there_are_newer_records():
    found = LastRecords.of(before((5, 700, False)), reads_of([6]))
    found.add(np.array([-1]))
    assert (found.times_ms.tolist(), found.has_newer.tolist()) == ([700], [True])


def test_a_last_record_that_is_not_replicated_yet_is_asked_for_again():
    found = LastRecords.of(before((5, 700, False)), reads_of([6]))
    found.add(np.array([NO_RECORD]))
    assert (found.times_ms.tolist(), found.has_newer.tolist()) == ([700], [True])


def test_records_without_timestamps_are_not_asked_for_again():
    found = LastRecords.of(None, reads_of([6]))
    found.add(np.array([NO_RECORD]))
    assert (found.times_ms.tolist(), found.has_newer.tolist()) == ([-1], [False])


def test_an_emptied_partition_has_no_last_record():
    assert known(before((5, 700, False)), reads_of([5], starts=[5])) == ([], [-1], [False])


def test_a_partition_whose_end_is_unknown_keeps_its_time_and_may_have_newer_records():
    assert known(before((5, 700, False)), reads_of([-1])) == ([], [700], [True])
    assert known(before((None, 700, True)), reads_of([5])) == ([0], [700], [True])


def test_an_end_that_went_back_makes_the_time_unknown():
    assert known(before((5, 700, False)), reads_of([4])) == ([0], [-1], [True])


def test_a_topic_that_was_created_again_is_read_anew():
    again = before((5, 700, False), topic_id="another")
    assert known(again, reads_of([5])) == ([0], [-1], [True])
    same = before((5, 700, False), topic_id=decoded_metadata({"a": {0: PLACE}}).topic_ids[0])
    assert known(same, reads_of([5])) == ([], [700], [False])


def test_another_cluster_at_this_address_is_read_anew():
    previous = before((5, 700, False), cluster_id="another")
    assert known(previous, reads_of([5])) == ([0], [-1], [True])


def test_a_tick_of_an_older_version_has_no_times():
    assert known(before((5, None, None)), reads_of([5])) == ([0], [-1], [True])


def test_times_follow_their_partitions_if_topics_come_and_go():
    previous = make_tick(
        1,
        cluster_id="the-cluster",
        partitions=[
            {"topic": topic, "partition": number, "log_end_offset": 5, "last_record_ms": time_ms,
             "has_newer_records": False}
            for topic, number, time_ms in (("b", 0, 1), ("b", 1, 2), ("gone", 0, 3), ("c", 0, 4))
        ],
    )  # fmt: skip
    topics = {"a": {0: PLACE}, "b": {0: PLACE}, "c": {0: PLACE, 1: PLACE}}
    assert known(previous, reads_of([5, 5, 5, 5], topics=topics)) == (
        [0, 3],
        [-1, 1, 4, -1],
        [True, False, False, True],
    )


def test_of_too_many_the_oldest_times_are_read_so_that_all_take_turns(monkeypatch):
    monkeypatch.setattr(last_record_choice, "READ_MAX", 2)
    previous, seen = None, []
    for number in range(3):
        answers = reads_of([number + 1] * 5)
        found = LastRecords.of(previous, answers)
        rows = found.rows_to_read()
        seen += rows.tolist()
        times = np.full(5, -1)
        times[rows] = 1000 + number
        found.add(times)
        state = zip(
            [number + 1] * 5, found.times_ms.tolist(), found.has_newer.tolist(), strict=True
        )
        previous = before(*((end, None if t < 0 else t, newer) for end, t, newer in state))
    assert sorted(set(seen)) == [0, 1, 2, 3, 4]
