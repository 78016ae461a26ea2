"""Numbers for people: their digits follow from their intervals, and no exponent is ever shown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turnier.core.number_text import (
    around,
    counted,
    duration,
    estimate,
    half_width_text,
    interval,
    number,
    percent_sure,
    plus_minus,
    roughly,
)


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (21646.4, 1733.2, "21,646 ± 1,733"),
        (0.45368, 0.0213, "0.454 ± 0.021"),
        (2.776e-17, 0.0213, "0.000 ± 0.021"),
        (-2.776e-17, 0.0213, "0.000 ± 0.021"),
        (35696.0, 6.9e4, "35,696 ± 69,000"),
        (1155.2000001, math.nan, "1,155"),
        (45.0, 0.0, "45 ± 0"),
        (0.3, 1e-17, "0.3 ± 0"),
        (9.96, 0.0996, "9.96 ± 0.10"),
        (7.0, 12.3, "7 ± 12"),
        (math.nan, 1.0, ""),
    ],
)
def test_digits_follow_from_the_half_width(value: float, half: float, shown: str) -> None:
    assert plus_minus(value, half) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.776e-17, "0"),
        (-1e-12, "0"),
        (0.1 + 0.2, "0.3"),
        (3.14159, "3.14"),
        (99.96, "100"),
        (-3.669e6, "-3,669,000"),
        (0.00001234, "0.0000123"),
        (12.0, "12"),
        (100.0, "100"),
        (1_234_567.8, "1,234,568"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, ""),
    ],
)
def test_a_number_without_an_interval_has_three_digits(value: float, shown: str) -> None:
    assert number(value) == shown
    assert number(np.float64(value)) == shown


def test_an_interval_reads_plus_minus_only_around_its_middle() -> None:
    assert around(28.0, -17.0, 73.0) == "28 ± 45" and around(28.0, 0.0, 73.0) == "28 (0 to 73)"
    assert around(26.4, 18.0, 33.6, " points", signed=True) == "+26.4 points (18.0 to 33.6)"
    assert around(5.0, math.nan, math.nan) == "5" and around(math.nan, 0.0, 1.0) == ""


def test_signs_and_units() -> None:
    assert estimate(6.512, 1.9, 11.3, " %", signed=True) == "+6.5 % (1.9 to 11.3)"
    assert estimate(-0.004, -3.1, 2.9, signed=True) == "+0.0 (-3.1 to 2.9)"
    assert number(0.0, signed=True) == "0"
    assert number(12.34, digits=2) == "12"
    assert plus_minus(52.345, 3.21, " %") == "52.3 ± 3.2 %"


def test_intervals() -> None:
    assert interval(19913.1, 23378.6) == "19,913 to 23,379"
    assert interval(9.45, 90.5) == "9 to 90"
    assert interval(9.45, 90.5, "–") == "9–90"
    assert interval(math.nan, 1.0) == ""
    assert interval(-math.inf, 120.0) == "-∞ to 120"
    assert estimate(50.0, math.nan, math.nan, " %") == "50 %"
    assert half_width_text(0.02134) == "0.021"
    assert half_width_text(math.nan) == ""


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.00041, "410 µs"), (0.0032, "3.2 ms"), (1.5, "1.5 s"), (0.0, "0 s"), (1.7e-7, "170 ns"), (math.nan, "")],
)
def test_a_time_has_a_unit_that_suits_it(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_never_an_exponent() -> None:
    for power in range(-20, 18):
        for text in (number(1.234567 * 10.0**power), plus_minus(10.0**power, 3.21 * 10.0**power)):
            assert "e" not in text


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        (0.2234, "22"), (0.0139, "1.4"), (0.0995, "10"), (0.993, "99.3"), (0.5, "50"), (0.9995, "over 99.9"),
        (0.0, "under 0.1"), (0.0004, "under 0.1"), (1.0, "over 99.9"), (math.nan, ""),
    ],
)  # fmt: skip
def test_a_probability_reads_the_same_in_sentences_and_tables(probability: float, shown: str) -> None:
    assert percent_sure(probability) == shown
    assert percent_sure(probability, ">", "<") == shown.replace("over ", ">").replace("under ", "<")


def test_forecasts_have_two_digits_and_one_thing_is_no_plural() -> None:
    assert [roughly(games) for games in (3651.0, 24405, 99.6, 7, 0.2)] == ["3,700", "24,000", "100", "7", "0"]
    assert [counted(games, "game") for games in (1, np.int64(1), 0, 1372)] == [
        "1 game",
        "1 game",
        "0 games",
        "1,372 games",
    ]
