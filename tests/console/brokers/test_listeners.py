"""Listeners of a broker, from its settings."""

import pytest

from console.brokers.listeners import listeners
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster

MAP = "PLAINTEXT:PLAINTEXT,SSL:SSL,INSIDE:SASL_SSL,CONTROLLER:PLAINTEXT"


def of(**values):
    names = {name.replace("_", "."): value for name, value in values.items()}
    names.setdefault("listener.security.protocol.map", MAP)
    return listeners(
        ConfigValue(name, value, "STATIC_BROKER_CONFIG", False, False)
        for name, value in names.items()
    )


def test_a_listener_has_the_address_for_clients_and_its_protocol():
    [inside, plain] = of(
        listeners="INSIDE://:9094,PLAINTEXT://0.0.0.0:9092",
        advertised_listeners="INSIDE://b1.example:9094,PLAINTEXT://[2001:db8::1]:19092",
        inter_broker_listener_name="INSIDE",
    )
    assert (inside.host, inside.port, inside.protocol) == ("b1.example", 9094, "SASL_SSL")
    assert (inside.bound, inside.is_between_brokers) == (":9094", True)
    assert (plain.host, plain.port, plain.bound) == ("2001:db8::1", 19092, "0.0.0.0:9092")
    assert not plain.is_between_brokers


def test_without_advertised_listeners_clients_get_the_addresses_of_the_listeners():
    [plain] = of(
        listeners="PLAINTEXT://b1:9092",
        advertised_listeners=None,
        security_inter_broker_protocol="PLAINTEXT",
    )
    assert (plain.host, plain.port, plain.is_between_brokers) == ("b1", 9092, True)


def test_a_listener_of_controllers_has_no_address_for_clients():
    [_plain, controller] = of(
        listeners="PLAINTEXT://b1:9092,CONTROLLER://b1:9093",
        controller_listener_names="CONTROLLER",
    )
    assert (controller.host, controller.port, controller.is_of_controllers) == (None, None, True)


def test_a_broker_that_tells_nothing_has_no_listeners():
    assert of() == []


@pytest.mark.kafka
def test_the_listener_of_a_real_kafka(shared_kafka):
    with for_cluster(Cluster(slug="kafka", bootstrap_servers=shared_kafka.address)) as gateway:
        [found] = listeners(gateway.broker_configs.describe(shared_kafka.id))
    assert (found.host, found.port) == ("127.0.0.1", shared_kafka.port)
    assert (found.protocol, found.is_between_brokers) == ("PLAINTEXT", True)
