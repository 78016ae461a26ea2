"""Our figure of a row beside the published one: two samples, and how alike their settings are."""

from __future__ import annotations

import math

from ...core.number_text import number
from ...statistics.intervals import Interval, points_intervals, weighted_sum
from .row import Measurement, Row, unit

CHANGED, BEATEN, OTHER = "changed", "beaten", "other"  # values of `Row.setting`
SETTINGS = {  # -> the heading of its class of figures
    "": "same setting",
    CHANGED: "changed setting",
    BEATEN: "beaten",
    OTHER: "not comparable",
}
# Agreement must be able to fail: nearly every figure lies within a wide interval, so without a limit on the width
# fewer games would mean more agreement. The limits are about the widths that the documents' own games (50 to 200 per
# figure) give to one figure, and to a difference of two.
NARROW_POINTS, NARROW_SHARE = 10.0, 0.1  # half-width of ours: of shares, percentage points; else of the published one
OF_DIFFERENCE = 1.5  # times the former: half-width of the difference
AGREES, HIGHER, LOWER, UNDECIDED = "agrees", "higher", "lower", "undecided"
NO_DIFFERENCE = "no difference shown"
WORDS = (AGREES, NO_DIFFERENCE, HIGHER, LOWER, UNDECIDED)
VERDICTS = (
    "Both figures are samples: the 95 % interval of their difference counts the published games too, if their number is"
    " known. *Higher*, *lower*: the difference is shown; *agrees*: its interval holds 0, and its half-width is at most"
    f" {OF_DIFFERENCE * NARROW_POINTS:g} percentage points (for other figures than shares:"
    f" {100 * OF_DIFFERENCE * NARROW_SHARE:g} % of the published one; without a known number of games"
    f" {NARROW_POINTS:g}); *no difference shown*: it is wider, but more games of ours would hardly narrow it;"
    " *undecided*: they would."
)


def verdict(row: Row, measured: Measurement) -> str:
    """Compares our figure with the published one, as described in VERDICTS; empty if they cannot be compared."""
    if row.published is None or not measured.games or row.setting == OTHER:
        return ""
    difference = minus_published(row, measured)
    if difference.low > 0:
        return HIGHER
    if difference.high < 0:
        return LOWER
    if _half_width(difference) <= (OF_DIFFERENCE if row.published_games else 1.0) * narrow(row):
        return AGREES
    return NO_DIFFERENCE if row.trainings or _half_width(measured) <= narrow(row) else UNDECIDED


def minus_published(row: Row, measured: Measurement) -> Interval:
    """Returns our figure less the published one, with its 95 % interval."""
    ours = Interval(measured.value, measured.low, measured.high)
    return weighted_sum((1.0, -1.0), (ours, published_interval(row, measured)))


def published_interval(row: Row, measured: Measurement) -> Interval:
    """Returns the published figure with the 95 % interval of its number of games; without a number, without a width.

    That of a share is Wilson's; of a mean, games (or trainings) are taken to vary as much as ours.
    """
    published, games = float(row.published or 0.0), row.published_games
    if not games:
        return Interval(published, published, published)
    if is_share(row) and not row.trainings:
        share = published / 100
        low, high = points_intervals(share, share * (1 - share), games)
        return Interval(published, 100 * float(low), 100 * float(high))
    half = _half_width(measured) * math.sqrt((len(row.measured) if row.trainings else measured.games) / games)
    return Interval(published, published - half, published + half)


def setting_text(row: Row) -> str:
    """Returns how ours differs from what was published, such as "changed setting: one training"; may be empty."""
    return ": ".join(filter(None, (SETTINGS[row.setting], row.reason))) if row.setting else ""


def published_text(row: Row) -> str:
    """Returns the published figure, with its number of games if that is known; empty without one."""
    if row.published is None:
        return ""
    unit_of = ("training" if row.trainings else "game") + "s" * (row.published_games != 1)
    games = f" ({row.published_games:,} {unit_of})" if row.published_games else ""
    return number(row.published, digits=4) + games


def is_share(row: Row) -> bool:
    """Whether a row's figure is a share, %."""
    return unit(row).endswith("%")


def narrow(row: Row) -> float:
    """Returns the half-width of our figure from which on more games of ours say little more."""
    return NARROW_POINTS if is_share(row) else NARROW_SHARE * abs(row.published or 0.0)


def _half_width(interval: Interval | Measurement) -> float:
    return (interval.high - interval.low) / 2
