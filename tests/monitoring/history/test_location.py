import pytest

from monitoring.history.location import local_folder


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("/srv/history", "/srv/history"),
        ("file:///srv/his tory", "/srv/his tory"),
        ("s3a://bucket/history", None),
        ("hdfs://name:8020/history", None),
    ],
)
def test_a_folder_of_this_machine_is_told_from_another_file_system(
    url: str, folder: str | None
) -> None:
    assert local_folder(url) == folder
