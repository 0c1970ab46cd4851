import pytest

from monitoring.history.local_folder import local_folder


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("/srv/history", "/srv/history"),
        ("file:///srv/his tory", "/srv/his tory"),
        ("s3a://bucket/history", None),
        ("hdfs://name:8020/history", None),
    ],
)
def test_a_local_folder_is_distinguished_from_other_file_systems(
    url: str, folder: str | None
) -> None:
    assert local_folder(url) == folder
