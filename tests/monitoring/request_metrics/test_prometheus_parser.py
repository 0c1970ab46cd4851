"""Prometheus' text format, as brokerd and JMX exporters write it."""

import math

import pytest

from monitoring.request_metrics import prometheus_parser
from monitoring.request_metrics.prometheus_parser import InvalidFormat, Sample, samples


def read(text, *prefixes):
    return list(samples(text, prefixes or ("kafka_",)))


def test_names_labels_and_values_are_read():
    text = (
        "# HELP kafka_a Of a.\n# TYPE kafka_a counter\n"
        'kafka_a{request="Produce",le="+Inf"} 12\n\n'
        "kafka_b 1.5e3\n"
    )
    assert read(text) == [
        Sample("kafka_a", {"request": "Produce", "le": "+Inf"}, 12.0),
        Sample("kafka_b", {}, 1500.0),
    ]


@pytest.mark.parametrize(
    ("line", "value"),
    [('kafka_a{request="Fetch",} 1', 1.0), ('kafka_a { request = "Fetch" } 2 1700000000000', 2.0),
     ('Kafka_A{request="Fetch"}\t+Inf\r', math.inf)],
)  # fmt: skip
def test_what_the_format_allows_besides_is_read(line, value):
    assert read(line) == [Sample("kafka_a", {"request": "Fetch"}, value)]


def test_escapes_in_labels_are_decoded():
    [sample] = read(r'kafka_a{path="C:\\new \"x\"\n"} 1')
    assert sample.labels == {"path": 'C:\\new "x"\n'}


def test_only_wanted_names_are_decoded():
    assert read("jvm_threads nonsense\nkafka_a 1\n") == [Sample("kafka_a", {}, 1.0)]


@pytest.mark.parametrize(
    "text",
    ["<html>", '{"a": 1}', "kafka_a", "kafka_a one", 'kafka_a{request="x" 1', "kafka_a{x=1} 1",
     'kafka_a{x="1"} 1 2 3', "kafka_a 1\n§"],
)  # fmt: skip
def test_another_format_is_refused_with_the_line(text):
    with pytest.raises(InvalidFormat, match=r"line \d"):
        read(text)


def test_lines_samples_and_lengths_are_limited(monkeypatch):
    monkeypatch.setattr(prometheus_parser, "LINES_MAX", 3)
    monkeypatch.setattr(prometheus_parser, "SAMPLES_MAX", 2)
    assert len(read("kafka_a 1\nkafka_a 1\nx 1")) == 2
    with pytest.raises(InvalidFormat, match="more than 3 lines"):
        read("x 1\n" * 4)
    with pytest.raises(InvalidFormat, match="more than 2 samples"):
        read("kafka_a 1\n" * 3)
    with pytest.raises(InvalidFormat):
        read(f'kafka_a{{x="{"y" * prometheus_parser.LINE_LENGTH_MAX}"}} 1')
