"""`--zookeeper` where ZooKeeper wants to know who asks: tools find the JAAS file as Kafka's do."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

from tests.support.zookeeper import ZooKeeper
from tests.support.zookeeper_rights import rights_of_all, session


def brokerd(*arguments: str, login: Path | None) -> subprocess.CompletedProcess[str]:
    options = f"-Djava.security.auth.login.config={login}" if login else ""
    return subprocess.run(
        [sys.executable, "-m", "brokerd", *arguments],
        env=os.environ | {"KAFKA_OPTS": options},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_settings_of_a_stopped_broker_are_changed_by_who_has_the_brokers_login(
    secured_zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    connect = secured_zookeeper.connect(f"/{uuid4().hex}")
    with session(secured_zookeeper.connect(), secured_zookeeper.credentials) as client:
        for path in ("/brokers/ids", "/config/changes"):
            client.ensure_path(f"/{connect.partition('/')[2]}{path}")
    change = ("configs", "--zookeeper", connect, "--alter", "--entity-type", "brokers",
              "--entity-name", "7", "--add-config", "log.retention.ms=9000")  # fmt: skip

    refused = brokerd(*change, login=None)
    assert refused.returncode != 0
    assert "wants credentials, or others: name a JAAS file of its brokers by" in refused.stderr
    missing = brokerd(*change, login=tmp_path / "missing.jaas")
    assert missing.returncode != 0
    assert "KAFKA_OPTS: " in missing.stderr
    assert "Traceback" not in missing.stderr + refused.stderr

    done = brokerd(*change, login=secured_zookeeper.jaas_file)
    assert done.returncode == 0, done.stderr
    rights = rights_of_all(connect, secured_zookeeper.credentials)
    assert rights["/config/brokers/7"] == {"sasl:broker": 31}
