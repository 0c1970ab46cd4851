"""All paths in ZooKeeper, relative to the chroot of `zookeeper.connect`: Kafka's, and brokerd's own
under /brokerd.
"""

CLUSTER_ID = "/cluster/id"
BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE = "/brokers/seqid"
TOPICS = "/brokers/topics"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_CONFIGS = "/config/brokers"
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = "/config/changes/config_change_"
DELETE_TOPICS = "/admin/delete_topics"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
FEATURE = "/feature"

LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT_PREFIX = "/log_dir_event_notification/log_dir_event_"

CHANGES = "/brokerd/changes"
CHANGE_PREFIX = "/brokerd/changes/change_"
APPLIED = "/brokerd/applied"
OFFLINE = "/brokerd/offline"

_CONFIG_ENTITIES = ("topics", "clients", "users", "brokers", "ips")

PERSISTENT = (
    "/consumers",
    BROKER_IDS,
    TOPICS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE,
    "/isr_change_notification",
    PRODUCER_ID_BLOCK,
    LOG_DIR_EVENTS,
    *(f"/config/{entity}" for entity in _CONFIG_ENTITIES),
    CHANGES,
    APPLIED,
    OFFLINE,
)
"""Nodes that every broker creates when it starts, if they are missing, as Kafka's does."""


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    """A topic's id and the replicas of its partitions."""
    return f"{TOPICS}/{name}"


def partitions(topic_name: str) -> str:
    """The parent of a topic's partitions; it has no data."""
    return f"{TOPICS}/{topic_name}/partitions"


def partition(topic_name: str, index: int) -> str:
    """The parent of a partition's state; it has no data."""
    return f"{TOPICS}/{topic_name}/partitions/{index}"


def partition_state(topic_name: str, index: int) -> str:
    """Leader, in-sync set and epochs (LeaderAndIsr)."""
    return f"{TOPICS}/{topic_name}/partitions/{index}/state"


def topic_config(name: str) -> str:
    return f"/config/topics/{name}"


def config(entity: str) -> str:
    """`entity` as in config changes: `topics/T`, `users/ada/clients/reader`."""
    return f"/config/{entity}"


def broker_config(name: str) -> str:
    """`name` is a broker id or `<default>`."""
    return f"{BROKER_CONFIGS}/{name}"


def delete_topic(name: str) -> str:
    """The marker that requests the deletion of a topic."""
    return f"{DELETE_TOPICS}/{name}"


def change(number: int) -> str:
    return f"{CHANGE_PREFIX}{number:010d}"


def applied(broker_id: int) -> str:
    """The number of the last entry that a broker has applied."""
    return f"{APPLIED}/{broker_id}"


def offline(broker_id: int, number: int) -> str:
    """A node with replicas that a broker cannot serve (ephemeral)."""
    return f"{OFFLINE}/{broker_id}-{number}"


def sequence_number(node_name: str) -> int | None:
    """The number at the end of a name (`config_change_0000000007` → 7); None without one."""
    digits = node_name.rpartition("_")[2]
    return int(digits) if len(digits) == 10 and digits.isdigit() else None
