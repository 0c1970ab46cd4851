"""The metrics of kafka.server:type=SessionExpireListener: the session with ZooKeeper."""

from collections.abc import Iterator

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.server.admin_http.metrics.prometheus_text import Row, family, singles


def session_expire_listener_lines(cluster: BrokerLifecycle) -> Iterator[str]:
    prefix = "kafka_server_sessionexpirelistener_"
    yield from singles(
        prefix,
        ("zookeepersyncconnects_total", "Connections made to ZooKeeper.", cluster.connects),
        ("zookeeperdisconnects_total", "Times that ZooKeeper went silent.",
         cluster.disconnects),
        ("zookeeperexpires_total", "Sessions lost.", cluster.expires),
    )  # fmt: skip
    is_connected = cluster.disconnected_since_ms is None
    rows: list[Row] = [
        ({"state": "CONNECTED"}, int(is_connected)),
        ({"state": "CONNECTING"}, int(not is_connected)),
    ]
    text = "1 for the state of the ZooKeeper session."
    yield from family(prefix + "sessionstate", "gauge", text, rows)
