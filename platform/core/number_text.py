"""Numbers as people read them, in terminals, pages and reports: their digits follow from their intervals.

A half-width has two significant digits (and its whole part), its value as many decimals: 21,646 ± 1,733, 0.454 ± 0.021.
A number without an interval has three significant digits, or all of its whole part; a forecast has two, and a
probability one decimal below 10 % and above 99 %. What is missing (NaN) is empty. Sentences, tables and charts all take
their texts from here, so that a number reads the same wherever it stands.
"""

from __future__ import annotations

import math
import signal

DIGITS = 3  # significant digits of a number without an interval
HALF_WIDTH_DIGITS = 2
NOISE = (
    1e-9  # smaller numbers are rounding errors of sums, shown as 0, as are half-widths that much smaller than the value
)
LEAST_P = 1e-6  # smaller p-values are not told apart
MOST_SURE = 0.999  # no model of games is more reliable than this
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def percent_sure(probability: float, above: str = "over ", below: str = "under ") -> str:
    """Returns a probability in per cent: 22, 1.4, 99.3; "over 99.9" at most and "under 0.1" at least."""
    if math.isnan(probability):
        return ""
    if probability > MOST_SURE:
        return f"{above}{100 * MOST_SURE:g}"
    if probability < (least := 1 - MOST_SURE):
        return f"{below}{100 * least:.1g}"
    percent = 100 * float(probability)
    return f"{percent:.{0 if 9.95 <= percent <= 99 else 1}f}"


def roughly(forecast: float) -> str:
    """Returns a forecast, such as of games that are left, as a whole number with two significant digits: 3,700."""
    return f"{float(f'{forecast:.{HALF_WIDTH_DIGITS - 1}e}'):,.0f}"


def p_value(p: float) -> str:
    """Returns a p-value, which is never 0: 0.0053, <0.000001."""
    return f"<{number(LEAST_P)}" if p < LEAST_P else number(p, digits=HALF_WIDTH_DIGITS)


def number(value: float, half_width: float = math.nan, *, digits: int = DIGITS, signed: bool = False) -> str:
    """Returns a number; with a half-width it has the half-width's decimals, otherwise `digits` significant digits."""
    if math.isnan(value):
        return ""
    sign = "+" if signed and value else ""
    if math.isinf(value):
        return "-∞" if value < 0 else f"{sign}∞"
    if not _tells(half_width, value):
        text = f"{value:{sign}z,.{decimals(value, digits)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:{sign}z,.{decimals(half_width, HALF_WIDTH_DIGITS)}f}"


def plus_minus(value: float, half_width: float, unit: str = "", *, signed: bool = False) -> str:
    """Returns a value with its half-width: 21,646 ± 1,733; only the value if the half-width is unknown."""
    text = number(value, half_width, signed=signed)
    if text and not math.isnan(half_width):
        text += f" ± {half_width_text(half_width, value)}"
    return text + unit if text else ""


def half_width_text(half_width: float, value: float = 0.0) -> str:
    """Returns a half-width, for a table with a column of its own for it."""
    if _tells(half_width, value):
        return number(half_width, half_width)
    return "0" if math.isfinite(half_width) else number(half_width)


def interval(low: float, high: float, between: str = " to ") -> str:
    """Returns an interval: 19,913 to 23,379; empty if it is unknown."""
    if math.isnan(low) or math.isnan(high):
        return ""
    half = _half_width(low, high)
    return f"{number(low, half)}{between}{number(high, half)}"


def estimate(value: float, low: float, high: float, unit: str = "", *, signed: bool = False, sure: str = "") -> str:
    """Returns a value with its interval: +6.5 % (1.9 to 11.3); only the value if the interval is unknown.

    Args:
        sure: a text before the interval, such as "90 %: ".
    """
    text, ends = number(value, _half_width(low, high), signed=signed), interval(low, high)
    return f"{text}{unit} ({sure}{ends})" if text and ends else text + unit if text else ""


def around(value: float, low: float, high: float, unit: str = "", *, signed: bool = False) -> str:
    """Returns a value with its interval: as `plus_minus` if it is the middle of it, otherwise as `estimate`."""
    half = _half_width(low, high)
    if math.isnan(half) or number((low + high) / 2, half) == number(value, half):
        return plus_minus(value, half, unit, signed=signed)
    return estimate(value, low, high, unit, signed=signed)


def counted(number: int, thing: str) -> str:
    """Returns a number of things: 1 game, 372 games."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def ordinal(place: int) -> str:
    """Returns the word for a place from 1 to 6, such as that of a seat: first."""
    return ("first", "second", "third", "fourth", "fifth", "sixth")[place - 1]


def duration(seconds: float, digits: int = DIGITS) -> str:
    """Returns a time in the unit that suits it: 170 ns, 410 µs, 3.2 ms, 1.5 s."""
    if math.isnan(seconds):
        return ""
    size, unit = next((pair for pair in _TIMES if abs(seconds) >= pair[0]), _TIMES[-1] if seconds else _TIMES[0])
    return f"{number(seconds / size, digits=digits)} {unit}"


def _half_width(low: float, high: float) -> float:
    """Returns half an interval's width; one with an open end has none."""
    return (high - low) / 2 if math.isfinite(low) and math.isfinite(high) else math.nan


def _tells(half_width: float, value: float) -> bool:
    """Whether a half-width is known and more than the rounding error of its value."""
    return math.isfinite(half_width) and half_width > NOISE * max(1.0, abs(value))


def decimals(value: float, digits: int) -> int:
    """Returns the number of decimals that shows so many significant digits of a value."""
    if abs(value) < NOISE:
        return 0
    exponent = int(f"{value:.{digits - 1}e}".rpartition("e")[2])  # of the rounded value: 0.0996 has the digits of 0.1
    return max(0, digits - 1 - exponent)


def signal_name(number: int) -> str:
    """Returns the name of a signal, such as SIGSEGV; `signal 35` for a nameless one."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
