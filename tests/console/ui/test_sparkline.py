from console.ui.sparkline import HEIGHT, WIDTH, draw


def test_the_line_spans_the_box():
    spark = draw([0, 5, 10])
    assert spark.line == "M0.0 26.0L60.0 14.0L120.0 2.0"
    assert spark.area.endswith("Z")


def test_a_gap_breaks_the_line():
    assert draw([1, 2, None, 3, 4]).line.count("M") == 2


def test_with_less_than_two_known_values_there_is_no_line():
    assert draw([]).line == draw([None, 3, None]).line == ""


def test_a_constant_is_a_straight_line_within_the_box():
    points = draw([7, 7, 7]).line.removeprefix("M").split("L")
    assert {point.split()[1] for point in points} == {"2.0"}
    assert 0 < float(points[-1].split()[0]) <= WIDTH
    assert HEIGHT > 2
