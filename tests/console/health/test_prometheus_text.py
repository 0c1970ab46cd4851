from console.health.prometheus_text import counter, gauge


def test_the_lines_of_a_metric_follow_its_type():
    samples = [({"cluster": "a", "level": "raw"}, 1), ({"cluster": "b", "level": "raw"}, 0.5)]
    assert gauge("aerie_x", samples) == [
        "# TYPE aerie_x gauge",
        'aerie_x{cluster="a",level="raw"} 1',
        'aerie_x{cluster="b",level="raw"} 0.5',
    ]


def test_a_metric_without_labels_has_no_braces():
    lines = ["# TYPE aerie_x_total counter", "aerie_x_total 3"]
    assert counter("aerie_x_total", [({}, 3)]) == lines


def test_an_unknown_value_has_no_line_and_zero_has_one():
    assert gauge("aerie_x", [({"a": "1"}, None), ({"a": "2"}, 0)])[1:] == ['aerie_x{a="2"} 0']
