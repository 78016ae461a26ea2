"""Real games of equal agents: what `studies/calibration.py` measures at length, with few games and wide bounds."""

from __future__ import annotations

import math

import pytest

from turnier.core.outside.trust import trusting
from turnier.studies.calibration import all_parts
from turnier.studies.promises.games import bot, passing_store, play
from turnier.studies.promises.tally import Kind, Seen, Tally


def tallies(name: str, units: int) -> dict[str, Tally]:
    """Measures some units of one part."""
    (part,) = (part for part in all_parts() if part.name == name)
    found: dict[str, Tally] = {}
    with trusting(), passing_store() as store:
        for unit in range(units):
            for promise, seen in part.measure(unit, store).items():
                found[promise] = found.get(promise, Tally()).plus(seen)
    assert found.keys() == part.promises.keys() or found.keys() > part.promises.keys()
    return found


@pytest.mark.parametrize(("name", "units"), [("tictactoe 6 20", 5), ("spe_ed(players=3) 6 24", 4)])
def test_intervals_of_equal_agents_hold_the_truth(name: str, units: int) -> None:
    """Where the games of a seed count as independent, intervals of spe_ed hold it in half of the cases."""
    found = tallies(name, units)
    for promise in ("points", "crosstable", "difference", "elo", "elo difference"):
        assert found[promise].hits / found[promise].n > 0.8, promise
    assert found["p"].hits / found["p"].n < 0.12
    assert found["stars"].hits <= 1 and found["fit"].hits <= 1 and found["places"].hits >= units - 1
    assert found["elo"].n == 6 * units and found["p"].n == 15 * units


def test_agents_whose_order_is_known_have_it() -> None:
    found = tallies("yavalath wide", 5)
    sure, unsure = (found[name] for name in ("better 0.99", "better 0.5"))
    assert sure.hits / sure.n > 0.85 and sure.said / sure.n > 0.99
    assert 0.3 < unsure.hits / unsure.n < 0.9 and 0.5 < unsure.said / unsure.n < 0.7


def test_comparisons_of_equal_agents_say_so() -> None:
    found = tallies("compare tictactoe equal, margin 100 Elo", 30)
    assert found["wrong"].hits <= 3 and found["interval"].hits >= 26 and found["wrong"].units == 30


def test_bots_that_differ_by_number_have_luck_of_their_own() -> None:
    with trusting():
        games = [play("tictactoe", [bot(number), bot(0)], 50, "luck") for number in (1, 2)]
        always = play("tictactoe", [bot(1, 1.0), bot(2, 1.0)], 2, "first")
    assert [record.plies for record in games[0]] != [record.plies for record in games[1]]
    assert all(0.3 < sum(record.points[0] for record in some) / 50 < 0.9 for some in games)
    assert always[0].plies == always[1].plies and always[0].points == (1, 0)  # 0, 2, 4 and 6 are a line


def counted(hits: list[float], n: int, said: float = 0.0) -> Tally:
    tally = Tally()
    for some in hits:
        tally = tally.plus(Seen(some, n, said))
    return tally


@pytest.mark.parametrize(
    ("kind", "hits", "said", "verdict"),
    [
        (Kind.INTERVAL, 95, 0, "right"),
        (Kind.INTERVAL, 85, 0, "too narrow"),
        (Kind.INTERVAL, 100, 0, "wide"),
        (Kind.INTERVAL, 96.6, 0, "close"),  # 95.3 to 97.6
        (Kind.INTERVAL, 97, 0, "wide"),  # 95.7 to 97.9
        (Kind.AT_LEAST, 100, 0, "right"),
        (Kind.AT_LEAST, 85, 0, "too narrow"),
        (Kind.AT_MOST, 0, 0, "right"),
        (Kind.AT_MOST, 6, 0, "right"),
        (Kind.AT_MOST, 15, 0, "too often"),
        (Kind.SAID, 80, 80.5, "right"),
        (Kind.SAID, 70, 80.5, "too sure"),
        (Kind.SAID, 90, 80.5, "right"),
        (Kind.SHOWN, 12, 0, ""),
    ],
)
def test_verdicts(kind: Kind, hits: float, said: float, verdict: str) -> None:
    assert counted([hits] * 10, 100, said).verdict(kind) == verdict


def test_units_whose_counts_vary_more_are_worth_less() -> None:
    """Wilson's interval where counts are independent; as of ten tries where each unit is all or nothing."""
    even, uneven = counted([5, 5] * 5, 10), counted([10, 0] * 5, 10)
    assert even.interval(Kind.INTERVAL).low == pytest.approx(0.404, abs=0.001)
    assert uneven.interval(Kind.INTERVAL).low == pytest.approx(0.237, abs=0.001)
    errors = counted([1.0, 3.0] * 8, 1).interval(Kind.SHOWN)
    assert errors.value == 2 and errors.high - errors.low == pytest.approx(2 * 1.96 / math.sqrt(16), abs=0.001)
