import pytest

from monitoring.gateway.errors import GatewayError
from monitoring.gateway.wire import log_dirs, response_limits
from monitoring.gateway.wire.answers import ClusterAnswers, LogDir
from tests.monitoring.gateway.wire.answers import decoded_metadata, log_dirs_answer

KNOWN = decoded_metadata(
    {"a": {0: (1, (1, 2), (1, 2)), 1: (2, (2, 1), (2, 1))}, "b": {0: (1, (1,), (1,))}}
)


HELD = {"a": {0: (100, False), 1: (200, False)}}
TERABYTE = 1 << 40


VERSION = log_dirs.WITH_DISKS


@pytest.fixture(params=log_dirs.VERSIONS, autouse=True)
def version(request, monkeypatch):
    """Each version of the request."""
    monkeypatch.setitem(globals(), "VERSION", request.param)


def told_by(*pairs):
    """The answers of brokers, from pairs of a broker and its directories."""
    answers = ClusterAnswers.empty(KNOWN)
    for broker, directories in pairs:
        answer = log_dirs_answer(directories, VERSION)
        log_dirs.decode_into(answers, broker, answer, VERSION)
    return answers


def sizes(broker, *directories):
    return told_by((broker, list(directories))).size_bytes.tolist()


def test_the_size_of_a_partition_is_that_of_its_leaders_replica():
    held = {"a": {0: (100, False), 1: (200, False)}}
    assert sizes(1, held) == [100, -1, -1]
    assert sizes(2, held) == [-1, 200, -1]


def test_every_replica_counts_as_data_on_disk():
    held = {"a": {0: (100, False), 1: (200, False)}}
    answers = told_by((1, [held | {"b": {0: (7, False)}}]), (2, [held]))
    assert answers.replicas_size_bytes.tolist() == [200, 400, 7]
    assert answers.replicas_reported.tolist() == [2, 2, 1]
    assert answers.broker_size_bytes == {1: 307, 2: 300}


def test_replicas_of_a_broker_that_does_not_answer_are_not_counted():
    answers = told_by((1, [{"a": {0: (100, False)}}]))
    assert answers.replicas_size_bytes.tolist() == [100, -1, -1]
    assert answers.replicas_reported.tolist() == [1, 0, 0]


def test_all_directories_count_but_not_copies_that_are_being_moved():
    assert sizes(1, {"a": {0: (5, True)}}, {"a": {0: (100, False)}, "b": {0: (9, False)}}) == [
        100, -1, 9,
    ]  # fmt: skip


def test_partitions_and_topics_that_the_metadata_lacks_are_left_out():
    assert sizes(1, {"a": {0: (1, False), 7: (99, False)}, "new": {0: (3, False)}}) == [1, -1, -1]


def test_a_negative_partition_number_changes_no_other_topic():
    assert sizes(1, {"b": {-1: (55, False), 0: (3, False)}}) == [-1, -1, 3]


@pytest.mark.parametrize(
    "directories",
    [
        [{"a": {0: (-5, False)}}],
        [{"a": {0: (2**62, False), 1: (2**62, False)}}],
        [{"a": {0: (5, False)}}, {"a": {0: (5, False)}}],
    ],
)
def test_invalid_sizes_make_all_sizes_of_that_broker_unknown(directories):
    answers = told_by((1, directories), (2, [{"a": {0: (100, False), 1: (200, False)}}]))
    assert answers.size_bytes.tolist() == [-1, 200, -1]
    assert answers.replicas_size_bytes.tolist() == [100, 200, -1]
    assert answers.broker_size_bytes == {2: 300}
    assert answers.invalid.messages() == ["broker 1: invalid sizes of its replicas"]


def test_each_log_directory_has_the_size_of_its_replicas():
    answers = told_by((1, [HELD, {"b": {0: (7, False)}}, {}]))
    assert [(each.path, each.size_bytes) for each in answers.log_dirs[1]] == [
        ("/disk-0", 300), ("/disk-1", 7), ("/disk-2", 0),
    ]  # fmt: skip


def test_invalid_sizes_make_those_of_the_directories_unknown():
    answers = told_by((1, [{"a": {0: (-5, False)}}, {"b": {0: (7, False)}}]))
    assert [each.size_bytes for each in answers.log_dirs[1]] == [None, None]


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ((TERABYTE, 5), (TERABYTE, 5)),
        ((-1, -1), (None, None)),
        ((5, TERABYTE), (None, None)),
        ((1 << 62, 1 << 61), (None, None)),
    ],
)
def test_the_disk_of_a_directory_is_known_if_its_figures_can_be(told, known):
    answers = ClusterAnswers.empty(KNOWN)
    answer = log_dirs_answer([HELD], disks=[told])
    log_dirs.decode_into(answers, 1, answer, log_dirs.WITH_DISKS)
    [found] = answers.log_dirs[1]
    assert (found.total_bytes, found.free_bytes) == known


def test_an_error_instead_of_directories_is_told():
    answer = log_dirs_answer([], error=31)
    with pytest.raises(GatewayError, match="log directories \\(error 31\\)"):
        log_dirs.decode_into(ClusterAnswers.empty(KNOWN), 1, answer, log_dirs.WITH_DISKS)


def test_a_long_or_hostile_path_is_cut_and_only_so_many_directories_are_kept(monkeypatch):
    monkeypatch.setattr(response_limits, "LOG_DIRS_MAX", 2)
    answers = ClusterAnswers.empty(KNOWN)
    paths = ["/a\n" + "x" * 999, "/b", "/c"]
    answers.put_log_dirs(1, [LogDir(path, None, None) for path in paths], {})
    assert [each.path[:4] for each in answers.log_dirs[1]] == ["/a?x", "/b"]
    assert len(answers.log_dirs[1][0].path) == response_limits.TEXT_LENGTH_MAX + 1
