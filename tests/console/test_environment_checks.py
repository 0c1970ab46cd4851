import pytest

from console import environment_checks as rules

KEY = "qOP2v4pAk2Gm503cyMCHU33kkO8omoPSFbihqDUwZWY="


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (rules.heap, "128m"),
        (rules.heap, "2G"),
        (rules.zookeeper_connect, "zk1"),
        (rules.zookeeper_connect, "zk1:2181,zk2:2181,[::1]:2182/aerie/one"),
        (rules.redis_url, "redis://127.0.0.1:6379"),
        (rules.redis_url, "rediss://:a:b@redis.example:6379/0?ssl_cert_reqs=none"),
        (rules.database_url, "postgres://aerie:password@db.example/aerie"),
        (rules.database_url, "postgresql:///aerie"),
        (rules.database_url, "postgresql://%2Fvar%2Frun%2Fpostgresql/aerie"),
        (rules.database_url, "sqlite:////srv/aerie.sqlite3"),
        (rules.history_url, "/srv/aerie"),
        (rules.history_url, "file:///srv/aerie history"),
        (rules.history_url, "s3a://bucket/history"),
        (rules.history_url, "hdfs://name:8020/history"),
        (rules.spark_remote, "sc://spark.example"),
        (rules.spark_remote, "sc://spark.example:15002/;token=abc"),
        (rules.spark_master, "local[*]"),
        (rules.spark_master, "local[2,3]"),
        (rules.spark_master, "spark://one:7077,two:7077"),
        (rules.spark_master, "k8s://https://host:6443"),
        (rules.network, "10.1.0.0/16"),
        (rules.network, "192.168.7.4"),
        (rules.network, "fd00::/8"),
        (rules.network, "hooks.lan"),
        (rules.host_name, "console.example"),
        (rules.host_name, ".example"),
        (rules.host_name, "*"),
        (rules.log_directory, "prod/1=/var/lib/kafka/data"),
        (rules.log_directory, "my_cluster-2/1001=/mnt/k=1"),
        (rules.data_folder, "/home/a person/data"),
        (rules.secret_keys, f"{KEY}\n{KEY}\n"),
        (rules.password, "a-long-password"),
    ],
)
def test_valid_values_pass(rule: rules.Rule, value: str) -> None:
    assert rule(value) == ""


@pytest.mark.parametrize(
    ("rule", "value", "said"),
    [
        (rules.password, "seven77", "fewer than 8 characters"),
        (rules.password, "Password1", "common password"),
        (rules.password, "Admin-2026", "too similar to the user name"),
        (rules.heap, "12x", "such as 512m"),
        (rules.heap, "512", "such as 512m"),
        (rules.heap, "8m", "not between 64m and 64g"),
        (rules.heap, "999999999g", "not between 64m and 64g"),
        (rules.zookeeper_connect, "zk1,,zk2", "names no host"),
        (rules.zookeeper_connect, "zk1:99999", "1 to 65535"),
        (rules.zookeeper_connect, "zk1:2181/", "chroot"),
        (rules.zookeeper_connect, "zk1/a,zk2/b", "chroot"),
        (rules.zookeeper_connect, "zookeeper://zk1:2181", "is a URL"),
        (rules.log_directory, "/var/lib/kafka", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "prod=/var/lib/kafka", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "prod/one=/var/lib/kafka", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "prod/-1=/var/lib/kafka", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "pr od/1=/var/lib/kafka", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "prod/1=", "CLUSTER/BROKER=PATH"),
        (rules.log_directory, "prod/2147483648=/var/lib/kafka", "broker id above"),
        (rules.log_directory, "prod/1=var/lib/kafka", "not absolute"),
        (rules.redis_url, "127.0.0.1:6379", "redis://:PASSWORD@HOST:6379/0"),
        (rules.redis_url, "http://h:6379", "redis://:PASSWORD@HOST:6379/0"),
        (rules.redis_url, "redis://:6379", "names no host"),
        (rules.redis_url, "redis://h:port/0", "1 to 65535"),
        (rules.redis_url, "redis://h/first", "number of the database"),
        (rules.database_url, "aerie", "postgres://USER"),
        (rules.database_url, "mysql://h/aerie", "PostgreSQL or SQLite"),
        (rules.database_url, "postgres://u:p@h", "names no database"),
        (rules.database_url, "postgres://u:p@h:port/aerie", "1 to 65535"),
        (rules.database_url, "postgres://u:p/w@h/aerie", "%2F"),
        (rules.database_url, "sqlite://srv/aerie", "SQLite has none"),
        (rules.history_url, "history", "file:///FOLDER"),
        (rules.history_url, "ftp://h/history", "s3a://BUCKET"),
        (rules.history_url, "file://history", "absolute path"),
        (rules.history_url, "file:///", "absolute path"),
        (rules.history_url, "s3a://", "names no bucket"),
        (rules.history_url, "s3a://bucket/history?region=eu", "AWS_ENDPOINT_URL"),
        (rules.history_url, "s3://key:secret@bucket/history", "AWS_ACCESS_KEY_ID"),
        (rules.spark_remote, "local", "sc://HOST:15002"),
        (rules.spark_remote, "sc://", "names no host"),
        (rules.spark_remote, "sc://h:15002/token=abc", "behind the address"),
        (rules.spark_master, "local[two]", "local[2]"),
        (rules.spark_master, "spark://one", "no port"),
        (rules.network, "10.0.0.0/99", "neither an address"),
        (rules.network, "300.1.1.1", "neither an address"),
        (rules.network, "http://hooks.lan", "neither an address"),
        (rules.host_name, "https://console.example", "names alone"),
        (rules.host_name, "console.example:8000", "names alone"),
        (rules.data_folder, "/srv/a,b", "','"),
        (rules.secret_keys, "", "is empty"),
        (rules.secret_keys, "root:x:0:0", "something that is not a key"),
    ],
)
def test_invalid_values_are_reported_with_the_expected_format(
    rule: rules.Rule, value: str, said: str
) -> None:
    assert said in rule(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("redis://:hunter2@h:6379/0", "redis://:…@h:6379/0"),
        ("postgres://u:p:2@h/aerie", "postgres://u:…@h/aerie"),
        ("sc://h:15002/;token=hunter2;user_id=a", "sc://h:15002/;token=…;user_id=a"),
        ("zk1:2181/aerie", "zk1:2181/aerie"),
    ],
)
def test_a_message_shows_no_secret(value: str, shown: str) -> None:
    assert rules.without_secrets(value) == shown


def test_a_part_of_a_password_in_place_of_the_port_is_not_repeated() -> None:
    assert "hunter" not in rules.database_url("postgres://u:hunter/2@h/aerie")
    assert "hunter" not in rules.without_secrets("postgres://u:hunter/2@h/aerie")


def test_a_broker_may_have_several_log_directories() -> None:
    values = ["prod/1=/a", "prod/1=/b", "prod/2=/a", "test/1=/c", "invalid"]
    assert rules.log_directories(values) == {
        ("prod", 1): ["/a", "/b"],
        ("prod", 2): ["/a"],
        ("test", 1): ["/c"],
    }
