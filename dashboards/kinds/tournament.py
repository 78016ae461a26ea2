"""Tournaments: the rating list, who beats whom, seats, and the scores of agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.match import moves_kept
from turnier.core.number_text import LEAST_P, around, counted, estimate, number, percent_sure, plus_minus
from turnier.dashboards.agent_names import distinct, planned_labels, short_game, with_names_in
from turnier.dashboards.kinds import games as scores
from turnier.dashboards.links import SIDES, games_address
from turnier.dashboards.sections import Board, Choice, Drawing, Head, Meetings, Section, Tab, Text
from turnier.dashboards.summaries.matches import (
    WINDOW,
    Ranks,
    Scores,
    both_sides,
    bounds_of,
    met,
    of_agents,
    of_game,
    ranks_of,
    ratings_of_game,
    scores_of,
)
from turnier.dashboards.tables import MAIN, MINOR, Column, Table, known
from turnier.results.alike_games import results_frame
from turnier.results.failures import list_failures
from turnier.results.frames import Standings, Terms, json_rows
from turnier.results.frames.fields import contenders
from turnier.results.frames.rating_list import places_of
from turnier.results.frames.standings import best_so_far
from turnier.results.frames.terms import anchor_among
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.stored.tournament import TournamentResults

BEGIN = 'turnier tournament yavalath mcts "alphabeta(depth=4)" random --games 20 --openings 1'
COMPARES = True  # see `turnier.dashboards.sections`

SIGNIFICANT = 0.05
RACE = ("game", "agent", "label", "games", "best")
DECIDED = 0.95  # probability to be the best
UNEVEN = 2  # times as many games as the leader's, from which on that is said
RACING = 100  # agents, for which the probabilities of being the best are computed at several numbers of games
RATES = True  # an agent that failed in all games is an error
RATED_BY = ("this tournament", "all tournaments of the game")
SQUARE = 12  # maximum number of agents for which terminals show who beats whom
OF_RATINGS = (
    *("rank", "rank_low", "rank_high", "elo", "elo_low", "elo_high", "draw_share", "superiority", "best_of_all"),
    *("nash", "nash_low", "nash_high", "nash_weight", "fit_p", "cyclic", "group", "live_mu", "live_sigma"),
)
BELIEFS = "Better, best: the probabilities that it is stronger than the next one, and the best of all."
NASH = "Nash: points against the mixture of agents that no agent beats, which copies of an agent do not change."
PAIR_NOTE = (
    "The higher place comes first. Games to separate: how many games these two would need, playing as before, to"
    " differ significantly with 80 % probability (two-sided t-test at 5 %, pairs of games as units); blank if they"
    " are equal so far, or if too few games show how much results vary."
)
OF_THREE = " In games of three and more seats, two agents that both lost to a third one have drawn with each other."
SURE = (
    Column("superiority", "better", "%", 100, sure=True),
    Column("best_of_all", "best", "%", 100, sure=True, importance=MINOR),
)


class Data(NamedTuple):
    """The data of a tournament."""

    scores: Scores
    ranks: Ranks
    store: Store
    said: list[str]  # sentences on the certainty of the first places and on agents that repeated games
    race: pd.DataFrame  # see `best_so_far`; with the column `game`


def read(results: RunResults, anchor: str = "", nash: bool = False) -> Data:
    """Returns a tournament; `anchor` and `nash` as in `RunResults.standings`."""
    frame = results_frame(results.store, results.id)
    terms = Terms.of_runs(results.store, [results.id], anchor_among(frame, anchor) if anchor else "", nash)
    planned = isinstance(results, TournamentResults) and "agents" in results.store.run(results.id).definition
    said = list(filter(None, _said(results, frame))) if planned else []
    found = scores_of(results.store, results.id, frame), ranks_of(results.id, frame, terms)
    planned_ahead = "times" not in frame and frame["agent"].nunique() <= RACING and not terms.format
    games = frame.groupby("game", observed=True) if planned_ahead else ()
    race = [best_so_far(part).assign(game=game) for game, part in games]
    return Data(*found, results.store, said, pd.concat(race) if race else pd.DataFrame(columns=RACE))


def _said(results: Any, frame: pd.DataFrame) -> Iterator[str]:
    names = distinct(frame["label"].unique())
    yield with_names_in(results.first_places(), names)
    repeated = frame[frame["repeat"]]
    labels = sorted(names[label] for label in repeated["label"].unique())
    if labels and results.tournament:
        among = frame["label"].map(names).isin(labels).groupby(frame["match"]).all()
        again = f"{' and '.join(labels)} {'play' if len(labels) > 1 else 'plays'} the same game with every seed"
        numbers = f"{among.sum():,} games, {among.sum() - repeated['match'].nunique():,} different"
        yield f"{numbers}: {again}; {results.tournament.cure}."


def head(results: RunResults) -> Head:
    """Returns the leader, and how sure that is."""
    terms = Terms.of_runs(results.store, [results.id])
    return _led(results, Standings.of(results_frame(results.store, results.id), pairs=False, terms=terms).ratings)


def head_of(results: RunResults, data: Data) -> Head:
    """Returns the same from data that have been read."""
    return _led(results, data.ranks.ratings)


def _led(results: RunResults, ratings: pd.DataFrame) -> Head:
    if ratings.empty:
        return scores.head(results)
    run = results.store.run(results.id)
    names = tuple(distinct([*ratings["label"], *planned_labels(run)]).values())
    unplayed, first = names[len(ratings) :], ratings.iloc[0]
    if pd.isna(first["elo"]):
        value = around(first["mean"], *bounds_of(ratings).around(first["mean"], first["mean_high"] - first["mean"]))
    else:
        share, low, high = (100 * first[f"points_share{end}"] for end in ("", "_low", "_high"))
        value = f"{estimate(share, low, high, ' %')} of the points"
    likely = meaning = ""
    if pd.notna(first["best_of_all"]):
        likely = f"; the best of these with {percent_sure(first['best_of_all'])} % probability"
        meaning = contenders(ratings["rank_low"].to_numpy())
    later = f"; yet to play: {', '.join(unplayed)}" if unplayed else ""
    most = int(ratings["games"].max())
    games = counted(first["games"], "game") + f" (others have up to {most:,})" * bool(most > UNEVEN * first["games"])
    leads = f"{names[0]} leads{' so far' if unplayed else ''}: {value}, {games}{likely}{later}"
    return Head(leads, f"{meaning[:1].upper()}{meaning[1:]}." if meaning else "", "", names, unplayed)


def ratings(data: Data) -> pd.DataFrame:
    """Returns the ratings of the agents, see `Standings`."""
    return data.ranks.ratings


def sections(data: Data) -> Iterator[Section]:
    yield from scores.by_game(sorted(data.scores.summary["game"].unique()), partial(_of_game, data))


def to_json(data: Data) -> Any:
    """Returns a row for each game and agent, with its rating, its results by opponent, and its failures."""
    rows = with_standings(
        json_rows(data.scores.summary.drop(columns="run")), Standings(*data.ranks[:2], data.ranks.notes)
    )
    runs = data.scores.summary["run"].unique().tolist()
    reasons = json_rows(list_failures(data.store, runs).table)
    return [row | {"failed_because": [one for one in reasons if one["agent"] == row["agent"]]} for row in rows]


def _of_game(data: Data, game: str) -> Iterator[Section]:
    ranks, found = of_game(data.ranks, game), of_agents(data.scores, game)
    if ranks.ratings.empty:
        yield from scores.scored(found)
    else:
        yield from _ratings(data, game, ranks, found.summary)
        yield from map(Text, data.said)
        yield from map(Text, ranks.notes.loc[ranks.notes["about"] != "leader", "note"])
        race = data.race[data.race["game"] == game]
        names = dict(zip(ranks.ratings["agent"], ranks.ratings["label"], strict=True))
        race = race[race["agent"].isin(names)].assign(label=lambda known: known["agent"].map(names))
        if said := decided(race):
            yield Text(said)
        yield Drawing("tournament.rating_points", (ranks,))
        yield Drawing("tournament.best_over_games", (race, list(names)))
        yield from scores.scored(found)
        if len(ranks.pairs):
            yield Tab("Pairs")
            yield from _who_beats_whom(ranks)
            yield Drawing("tournament.seat_points", (ranks,), _seats(ranks))
            yield pair_table(ranks)
    yield from _last_boards(data.store, found)


def decided(race: pd.DataFrame) -> str:
    """Returns between which numbers of games it became clear which agent is the best; empty if that cannot be told.

    Args:
        race: of `best_so_far`.
    """
    race = race.dropna(subset="best")  # unknown while nothing varies
    if race["games"].nunique() < 2:
        return ""
    total = int(race["games"].max())
    leader = race.loc[race["best"].where(race["games"] == total).idxmax()]
    own = race[race["agent"] == leader["agent"]].set_index("games")["best"].sort_index()
    doubtful = own.index[~(own >= DECIDED)]
    if len(doubtful) and doubtful[-1] == total:
        sure = percent_sure(leader["best"])
        return f"Not decided after {total:,} games: {leader['label']} is the best with {sure} % probability, not 95 %."
    before = int(doubtful[-1]) if len(doubtful) else 0
    since = int(own.index[own.index > before][0])
    when = f"after {before:,} to {since:,}" if before else f"within the first {since:,}"
    return (
        f"Decided {when} of {total:,} games: from then on, {leader['label']} is the best with at least"
        f" {100 * DECIDED:.0f} % probability."
    )


def _ratings(data: Data, game: str, ranks: Ranks, summary: pd.DataFrame) -> Iterator[Section]:
    """Yields the rating list of the tournament, or of all tournaments of its game if there are others."""
    listed = rating_list(ranks, summary)
    tournaments = [run for run in data.store.runs() if run.kind == "tournament" and run.definition.get("game") == game]
    if len(tournaments) < 2:
        yield listed
        return

    def make(by: str) -> Sequence[Section]:
        return [listed if by == RATED_BY[0] else rating_list(ratings_of_game(data.store, game))]

    yield Choice("Rated by the games of", "rated", RATED_BY, make)


def _who_beats_whom(ranks: Ranks) -> Iterator[Section]:
    """Yields the square of all agents, or a window of many, and the games of two of them."""

    def drawing(first: int) -> Drawing:
        return Drawing("tournament.crosstable", (ranks, first), _square(ranks), cells=SIDES, wide=True)

    labels = ranks.ratings["label"].tolist()
    significant, of = int((ranks.pairs["p_holm"] < SIGNIFICANT).sum()), len(ranks.pairs)
    if of > 1:
        yield Text(f"{significant:,} of {of:,} pairs of agents differ significantly: p < 0.05 after Holm's correction.")
    if len(labels) <= WINDOW:
        yield drawing(1)
    else:
        firsts = {f"{i} to {min(i + WINDOW - 1, len(labels))}": i for i in range(1, len(labels) + 1, WINDOW)}
        yield Choice("Places in the chart below", "place", list(firsts), lambda chosen: [drawing(firsts[chosen])])
    agents = dict(zip(labels, ranks.ratings["agent"], strict=True))
    alone = bool(ranks.ratings["elo"].isna().all())
    yield Meetings(str(ranks.ratings["run"].iloc[0]), agents, alone, partial(met, both_sides(ranks), alone))


def list_of(standings: Standings, game: str) -> Iterator[Section]:
    """Yields the rating list of a game with its notes, from any games."""
    found = Ranks(standings.ratings, standings.pairs, pd.DataFrame(columns=["game"]), standings.notes)
    ranks = of_game(found, game)
    yield replace(rating_list(ranks), title=f"{short_game(game)}: rating list")
    yield from map(Text, ranks.notes["note"])


def rating_rows(standings: Standings) -> list[dict[str, Any]]:
    """Returns the rows of rating lists for JSON, each with the notes on its game."""
    return [row | {"notes": standings.notes_of(row["game"])} for row in json_rows(standings.ratings)]


def rating_list(ranks: Ranks, summary: pd.DataFrame | None = None) -> Table:
    """Returns the agents of a game by rank: Elo or mean score, how sure that is, and the ends of their games."""
    frame = ranks.ratings.assign(places=places_of(ranks.ratings))
    counted = [] if summary is None else scores.mishaps(summary)
    if summary is not None and counted:
        frame = frame.merge(summary[["agent", *(column.name for column in counted)]], on="agent", how="left")
    rated = bool(frame["elo"].notna().any())
    name = "elo" if rated else "mean"
    frame["half_width"] = (frame[f"{name}_high"] - frame[f"{name}_low"]) / 2
    value = Column("elo", "Elo", half_width="half_width", signed=True, importance=MAIN)
    if not rated:
        value = replace(scores.MEAN, bounds=bounds_of(frame))
    shares = known(frame, *scores.SHARES, Column("draw_share", "drawn", "%", 100, digits=2, importance=MINOR))
    nash = known(frame, Column("nash", "Nash", "%", 100, low="nash_low", high="nash_high", short=True))
    live = known(frame, Column("live_mu", "openskill mu", half_width="live_sigma", importance=MINOR))
    group = [Column("group")] if frame["group"].nunique() > 1 else []
    to_games = []
    if "run" in frame:
        to_games = [scores.REPLAY]
        pairs = frame[["run", "agent"]].itertuples(index=False)
        frame["replay"] = [games_address(str(run), str(agent)) for run, agent in pairs]
    columns = [
        Column("places", "place"),
        Column("label", "agent", key=True),
        value,
        scores.GAMES,
        *shares,
        *counted,
        *SURE,
        *nash,
        *live,
        *group,
        *to_games,
    ]
    return Table("Rating list" if rated else "Rating list by mean score", frame, columns, _list_note(ranks, rated))


def _list_note(ranks: Ranks, rated: bool) -> str:
    """Returns the meaning of a rating list's columns."""
    frame = ranks.ratings
    zero = frame.loc[frame["elo_low"] == frame["elo_high"], "label"]  # only an anchor's interval has no width
    about = f"Elo: 0 is {zero.iloc[0] if len(zero) else 'the mean of these agents'}." if rated else ""
    groups = "Agents in different groups have not met, even indirectly." if frame["group"].nunique() > 1 else ""
    places = f"Intervals of 95 %. Place: those that an agent may have. {BELIEFS}"
    return " ".join(filter(None, [about, places, NASH if frame["nash"].notna().any() else "", groups]))


def _square(ranks: Ranks) -> Table | None:
    """Returns who beats whom for terminals, the columns by place; None if these are too many."""
    labels, agents = ranks.ratings["label"].tolist(), ranks.ratings["agent"].tolist()
    if len(agents) > SQUARE:
        return None
    alone = bool(ranks.ratings["elo"].isna().all())
    cells: dict[tuple[str, str], str] = {}
    for row in ranks.pairs.to_dict("records"):
        mark = "*" if row["p_holm"] < SIGNIFICANT else ""
        share = 100 * row["points_share"]
        half = (row["difference_high"] - row["difference_low"]) / 2
        spread = 50 * (row["points_share_high"] - row["points_share_low"])
        both = (
            (plus_minus(row["difference"], half, signed=True), plus_minus(-row["difference"], half, signed=True))
            if alone
            else (number(share, spread), number(100 - share, spread))
        )
        cells[row["first"], row["second"]], cells[row["second"], row["first"]] = (text + mark for text in both)
    frame = pd.DataFrame({"place": range(1, len(agents) + 1), "agent": labels})
    for i, other in enumerate(agents, 1):
        frame[str(i)] = [cells.get((agent, other), "") for agent in agents]
    columns = [Column("place"), Column("agent", key=True), *(Column(str(i)) for i in range(1, len(agents) + 1))]
    what = "Difference of mean scores on the same seeds" if alone else "Points against, %"
    marked = "* differs: p < 0.05 after Holm's correction." if any("*" in cell for cell in cells.values()) else ""
    return Table(what, frame, columns, marked + OF_THREE * ranks.crowded)


def _seats(ranks: Ranks) -> Table | None:
    """Returns the points in each seat for terminals."""
    if ranks.seats.empty:
        return None
    columns = [Column("label", "agent", key=True), Column("seat"), *scores.SHARES[:1], scores.GAMES]
    return Table("Points by seat", ranks.seats, columns, "Seat 0 moves first.")


def pair_table(ranks: Ranks) -> Table:
    """Returns every two agents, the best first: points, the difference with its interval, p, and games to separate."""
    several = bool(ranks.ratings["elo"].notna().any())
    frame = both_sides(ranks)
    frame = frame[frame["place"] < frame["against_place"]].reset_index(drop=True)
    pairs = zip(frame["run"], frame["first"], frame["second"], strict=True)
    frame = frame.assign(
        needed=frame["needed"].replace(np.inf, np.nan) * (2 if several else 1),
        half_width=(frame["difference_high"] - frame["difference_low"]) / 2,
        replay=[games_address(run, *both) if several else "" for run, *both in pairs],
    )
    difference = [] if several else [Column("difference", "difference of scores", half_width="half_width", signed=True)]
    columns = [
        *([scores.REPLAY] if several else []),
        Column("place", importance=MINOR),
        Column("agent", key=True),
        Column("against_place", "place of other", importance=MINOR),
        Column("against", key=True),
        Column("games", "games" if several else "seeds", importance=MAIN),
        *scores.SHARES,
        *difference,
        Column("p_holm", "p (Holm)", digits=2, least=LEAST_P),
        Column("needed", "games to separate", importance=MINOR),
    ]
    return Table("All pairs of agents", frame, columns, PAIR_NOTE + OF_THREE * ranks.crowded)


def _last_boards(store: Store, found: Scores) -> Iterator[Board]:
    """The last positions of the matches with the largest and the smallest score, if their moves were kept."""
    for match in dict.fromkeys(found.extremes["id"].iloc[[0, -1]].dropna()) if len(found.extremes) else ():
        record = store.record(match)
        if moves_kept(record.plies):
            yield Board(partial(Reanalysis, record))


def with_standings(rows: Sequence[dict[str, Any]], standings: Standings) -> list[dict[str, Any]]:
    """Returns a summary's JSON rows with each agent's rating, the notes on its game, and its results by opponent.

    The notes are under `notes`, the results under `pairs` of the first of two agents.
    """
    rated = {(row["game"], row["agent"]): row for row in json_rows(standings.ratings)}
    met: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json_rows(standings.pairs):
        met.setdefault((row.pop("game"), row.pop("first")), []).append(row)
    rated_rows = []
    for row in rows:
        rating = rated.get((row["game"], row["agent"]), {})
        results = {"notes": standings.notes_of(row["game"]), "pairs": met.get((row["game"], row["agent"]), [])}
        rated_rows.append(row | {name: rating.get(name) for name in OF_RATINGS} | results)
    return rated_rows
