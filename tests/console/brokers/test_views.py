"""The page of the brokers."""

from django.urls import reverse

from tests.console.conftest import BROKERS, sample

TERABYTE = 1 << 40


def disk(path, total, free, size):
    return {"path": path, "total_bytes": total, "free_bytes": free, "size_bytes": size}


def test_each_of_several_log_directories_has_its_disk_and_data(
    clusters, redis_server, client_of, viewer
):
    disks = [disk("/disk-a", 4 * TERABYTE, TERABYTE, 5 << 30), disk("/disk-b", None, None, None)]
    sample("local", brokers=[BROKERS[0] | {"log_dirs": disks}])
    page = client_of(viewer).get(reverse("brokers", args=["local"])).content.decode()
    shown = " ".join(page.split())
    assert "/disk-a</span> 75 % data 5" in shown
    assert "/disk-b</span> — data —" in shown
