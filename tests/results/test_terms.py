"""On which terms agents are rated: the zero that a run keeps, wider intervals where results chose, and what is said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.results.made import DUEL, made
from turnier import Tournament
from turnier.arena.match import MatchRecord
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.frames import Standings, Terms, matches_frame
from turnier.results.frames.fields import seats_beside
from turnier.results.frames.meetings import meetings_of
from turnier.results.frames.rating_list import CHOSEN_NOTE, places_of
from turnier.results.store.store import Store
from turnier.runs.results import RunResults

AGENTS = ("a", "b", "c")


def games(shares: dict[tuple[str, str], float], pairs: int = 40) -> list[MatchRecord]:
    """Pairs of games on seeds of their own, in which the first agent of two wins that share."""
    rng, found, seed = np.random.default_rng(1), list[MatchRecord](), 0
    for (first, second), share in shares.items():
        for _ in range(pairs):
            seed += 1
            for seats in ((first, second), (second, first)):
                won = 1.0 if rng.random() < share else -1.0
                found.append(made(seed, (won, -won) if seats[0] == first else (-won, won), seats, DUEL))
    return found


def frame_of(folder: Path, records: list[MatchRecord]) -> pd.DataFrame:
    with Store.open(f"sqlite:///{folder}/a.db") as store:
        store.begin_run("run", "tournament", "a tournament", {})
        store.append("run", records)
        return matches_frame(store, run="run")


ORDER = {("a", "b"): 0.7, ("b", "c"): 0.7, ("a", "c"): 0.85}
CIRCLE = {("a", "b"): 0.9, ("b", "c"): 0.9, ("c", "a"): 0.9}


def test_an_anchor_has_no_width_and_moves_nobody_relative_to_others(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, games(ORDER))
    free, fixed = (Standings.of(frame, terms=Terms(anchor)).ratings.set_index("agent") for anchor in ("", "c"))
    assert fixed.loc["c", ["elo", "elo_low", "elo_high"]].tolist() == [0.0, 0.0, 0.0]
    assert (fixed["elo"] - free["elo"]).tolist() == pytest.approx([-free.loc["c", "elo"]] * 3)
    assert fixed.loc["a", "elo_low"] < fixed.loc["a", "elo"] < fixed.loc["a", "elo_high"]
    assert fixed[["rank_low", "best_of_all"]].equals(free[["rank_low", "best_of_all"]])


def test_a_run_keeps_its_anchor_and_refuses_what_it_does_not_rate(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        agents = ["random", "greedy", "mc(iterations=2)"]
        run = Tournament("nim", agents, games=6, anchor="greedy").run(store, where=Where("serial"), progress=False)
        again = Tournament("nim", agents, games=8).run(store, where=Where("serial"), progress=False)
        assert again.id == run.id
        for results in (run, again, RunResults.find(store, run.id)):
            assert results.ratings().loc["greedy", "elo"] == 0
        assert again.ratings(anchor="random").loc["random", "elo"] == 0
        with pytest.raises(UserError, match=r"^an anchor must be an agent of these games, got mcts; they are greedy, "):
            again.ratings(anchor="mcts")
        alone = Tournament("2048(size=2)", ["random", "greedy"], games=4).run(
            store, where=Where("serial"), progress=False
        )
        with pytest.raises(UserError, match="they are none, as games of one seat are rated by scores"):
            alone.ratings(anchor="random")
    with pytest.raises(UserError, match="the anchor must be one of the agents, got mcts"):
        Tournament("nim", agents, anchor="mcts")
    with pytest.raises(UserError, match="an anchor is for games of two and more seats"):
        Tournament("2048", ["random"], anchor="random")


def test_only_a_circle_is_named_and_has_nash_averages(tmp_path: Path) -> None:
    (tmp_path / "circle").mkdir()
    silent, named = frame_of(tmp_path, games(ORDER)), frame_of(tmp_path / "circle", games(CIRCLE))
    fine, wrong = Standings.of(silent), Standings.of(named)
    assert fine.notes["about"].tolist() == ["leader"] and fine.ratings["nash"].isna().all()
    assert wrong.notes["about"].tolist() == ["fit", "leader"]
    (note,) = wrong.notes.loc[wrong.notes["about"] == "fit", "note"]
    assert note.startswith("One rating per agent does not explain these results (p < 0.001): ")
    assert " against " in note and note.endswith(" % of the differences between agents are circular.")
    assert wrong.ratings["nash"].between(0.4, 0.6).all() and wrong.ratings["nash_weight"].sum() == pytest.approx(1)
    assert Standings.of(silent, terms=Terms(nash=True)).ratings["nash"].notna().all()
    assert places_of(wrong.ratings) == ["1-3"] * 3 and places_of(fine.ratings) == ["1", "2", "3"]
    (leader,) = fine.notes["note"]
    assert leader.startswith("a leads and is the best of these with ") and leader.endswith(
        "; all others are ruled out with 95 % confidence."
    )


def test_what_a_seat_is_worth_is_said_beside_the_difference_of_two(tmp_path: Path) -> None:
    """The first seat wins four of five games of equal agents, 240 Elo; without a gain nothing is said."""
    rng, records = np.random.default_rng(2), list[MatchRecord]()
    for seed in range(150):
        for seats in (("a", "b"), ("b", "a")):
            won = 1.0 if rng.random() < 0.8 else -1.0
            records.append(made(seed, (won, -won), seats, DUEL))
    frame = frame_of(tmp_path, records)
    (text,) = seats_beside(meetings_of(frame), ("a", "b"))
    worth = re.match(r"The first seat is worth \+(\d+) ± (\d+) Elo more than the second\. Apart from", text)
    assert worth and abs(int(worth[1]) - 240) <= int(worth[2])
    assert Standings.of(frame).notes["about"].tolist() == ["seats", "leader"]
    (tmp_path / "none").mkdir()
    even = frame_of(tmp_path / "none", games({("a", "b"): 0.5}))
    assert seats_beside(meetings_of(even), ("a", "b")) == []


def test_intervals_are_wider_where_results_chose_the_games(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for name, form in {"plain": "", "chosen": "swiss"}.items():
            store.begin_run(name, "tournament", name, {"format": form} if form else {})
            store.append(name, games(ORDER))
        widths, notes = [], []
        for name in ("plain", "chosen"):
            terms = Terms.of_runs(store, [name])
            found = Standings.of(matches_frame(store, run=name), terms=terms)
            widths.append((found.ratings["elo_high"] - found.ratings["elo_low"]).to_numpy())
            notes.append(CHOSEN_NOTE.text in found.notes_of(DUEL))
        assert (widths[1] > 1.1 * widths[0]).all() and notes == [False, True]
        assert Terms.of_runs(store, ["plain", "chosen"]).format == "swiss"  # of both together, too
