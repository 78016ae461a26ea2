"""The league of a game: its agents rated over all tournaments, the best of every family, and what a move costs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import pandas as pd
from starlette.datastructures import QueryParams

from turnier.agents.registry import short_text
from turnier.core.errors import UserError
from turnier.dashboards.agent_names import short_game
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run.cost import agent_costs, cheapest, clock_of
from turnier.dashboards.every_run.versions import versions_table
from turnier.dashboards.kinds import games as scores
from turnier.dashboards.kinds.tournament import list_of
from turnier.dashboards.links import HOME, games_address, run_address
from turnier.dashboards.pages.drawn import View
from turnier.dashboards.pages.page import Block, Page, nothing
from turnier.dashboards.run_heading import titled
from turnier.dashboards.sections import Drawing, Section, Text
from turnier.dashboards.short_names import kind_of
from turnier.dashboards.summaries.matches import both_sides, ranks_of
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.games.registry import make_game
from turnier.results.frames import Standings
from turnier.results.frames.matches import PLAYED, matches_frame
from turnier.results.frames.terms import Terms
from turnier.results.store.store import Run
from turnier.results.versions import of_versions, stored_versions

PATH = "/league"
PERSON = "human"  # the agent
VALUES = {"elo": "Elo", "mean": "mean score"}


def games_with_runs(shown: ShownStore) -> dict[str, list[Run]]:
    """Returns the runs that rate the agents of each game, the newest first."""
    found: dict[str, list[Run]] = {}
    for run in reversed(shown.runs().values()):
        if run.kind in PLAYED and shown.matches().get(run.id):
            found.setdefault(short_game(str(run.definition.get("game", run.name))), []).append(run)
    return found


def page(shown: ShownStore, query: QueryParams, game: str = "") -> Page:
    """Returns the page of a game; without one, that of the game played last."""
    known = games_with_runs(shown)
    if not known:
        begin = "turnier tournament tictactoe random greedy --games 10"
        return Page("League", [nothing("No tournament is stored here yet.", [begin], shown.option)], at=PATH)
    game = game or next(iter(known))
    _require_known(game, known)
    links = "".join(
        f'<a href="{PATH}/{escape(name)}"{CURRENT if name == game else ""}>{escape(name)}</a>' for name in known
    )
    head = f'<nav class="tabs" aria-label="games">{links}</nav>'
    view = View(f"{PATH}/{game}", query)

    def draw() -> list[Block]:
        return list(view.blocks(_sections(shown, game, known[game])))

    blocks = list(shown.read_all(known[game], f"league {game} drawn {query}", draw))
    runs = "".join(
        f'<li><a href="{escape(run_address(run.id))}">{escape(titled(run))}</a> {run.created:%Y-%m-%d}</li>'
        for run in known[game]
    )
    blocks.append(Block("runs", f'<h2>Their games</h2><ul class="list">{runs}</ul>'))
    return Page(f"League of {game}", blocks, head, above=(("Runs", HOME),), at=PATH)


def _require_known(game: str, known: Mapping[str, Sequence[Run]]) -> None:
    """Raises UserError for a game whose agents no stored run rates."""
    if game not in known:
        make_game(game)  # raises if there is no such game
        raise UserError(f"No tournament of {game} is stored here; there are leagues of {', '.join(known)}.")


CURRENT = ' aria-current="page"'


def file(shown: ShownStore, query: QueryParams, game: str, name: str) -> tuple[bytes, str]:
    """Returns the file of a table of the page, with its media type."""
    known = games_with_runs(shown)
    _require_known(game, known)
    return View(f"{PATH}/{game}", query).content(_sections(shown, game, known[game]), name)


def _sections(shown: ShownStore, game: str, runs: list[Run]) -> list[Section]:
    return list(shown.read_all(runs, f"league {game}", lambda: list(_rated(shown, game, runs))))


def _rated(shown: ShownStore, game: str, runs: list[Run]) -> Iterator[Section]:
    frame = matches_frame(shown.store, kind=PLAYED, game=game, ids=False)
    if frame.empty:
        yield Text("No game has ended yet.")
        return
    standings = Standings.of(frame, pairs=False, terms=Terms.of_runs(shown.store, [run.id for run in runs]))
    full = str(frame["game"].iloc[0])
    newest = frame.groupby("agent", observed=True)["run"].last()
    rated = standings.ratings.assign(run=standings.ratings["agent"].map(newest))
    yield from list_of(standings._replace(ratings=rated), full)
    name = "elo" if rated["elo"].notna().any() else "mean"
    known = rated.set_index("agent")[[name, f"{name}_low", f"{name}_high"]].set_axis(["elo", "low", "high"], axis=1)
    timed = frame[~_is_person(frame["agent"])]  # people take their time
    if len(timed):
        costs = agent_costs(timed).merge(known, on="agent", how="left")
        if name == "elo" and (said := cheapest(costs)):
            yield Text(said)
        clock = clock_of(timed)
        yield Drawing("tournament.strength_against_cost", (costs, VALUES[name], f"{clock} per move, µs"))
        yield best_of_families(costs, name, clock)
    if (people := people_table(frame, rated)) is not None:
        yield people
    if len(versions := of_versions(rated, stored_versions(shown.store))):
        yield Drawing("tournament.versions_over_time", (versions,))
        yield versions_table("Versions, the oldest first", versions)


def _is_person(agents: pd.Series) -> pd.Series:
    return agents.astype(str).str.partition("(")[0] == PERSON


def people_table(frame: pd.DataFrame, rated: pd.DataFrame) -> Table | None:
    """Returns the games of people against each opponent; None without any.

    Args:
        frame: of `matches_frame`, with all games of the rating list.
        rated: the rating list.
    """
    people = frame.loc[_is_person(frame["agent"]), "agent"].unique()
    with_people = frame[frame["match"].isin(frame.loc[frame["agent"].isin(people), "match"])]
    ranks = ranks_of("", with_people, Terms())
    if ranks.pairs.empty:
        return None
    sides = both_sides(ranks)
    found = sides[sides["first"].isin(people)].reset_index(drop=True)
    run_of = [_newest(with_people, *both) for both in found[["first", "second"]].itertuples(index=False)]
    ratings = rated.set_index("agent")
    found = found.assign(
        elo=found["first"].map(ratings["elo"]),
        half=found["first"].map((ratings["elo_high"] - ratings["elo_low"]) / 2),
        replay=[games_address(run, *both) for run, *both in zip(run_of, found["first"], found["second"], strict=True)],
    )
    columns = [
        Column("agent", "person", key=True),
        Column("elo", "Elo", half_width="half", signed=True, importance=MAIN),
        Column("against", key=True),
        Column("games", importance=MAIN),
        *scores.SHARES,
        scores.REPLAY,
    ]
    note = "Elo on the scale of the rating list; points against each opponent. 95 % intervals."
    return Table("People", found, columns, note)


def _newest(frame: pd.DataFrame, *agents: str) -> str:
    """Returns the newest run in which these agents met."""
    for agent in agents:
        frame = frame[frame["match"].isin(frame.loc[frame["agent"] == agent, "match"])]
    return str(frame["run"].iloc[-1])


def best_of_families(costs: pd.DataFrame, name: str, clock: str) -> Table:
    """Returns the best agent of every family, by its rating or mean score, with the time of its move by a clock."""
    known = costs[costs["elo"].notna()]
    family = known["agent"].map(short_text).map(kind_of).str.partition("@")[0]
    best = known.assign(family=family).sort_values("elo", ascending=False).drop_duplicates("family")
    columns = [
        Column("family", key=True),
        Column("elo", VALUES[name], signed=name == "elo", importance=MAIN),
        Column("name", "its best"),
        Column("per_move", f"{clock} per move", "µs", said=True),
        Column("games"),
    ]
    return Table("The best of every family", best.reset_index(drop=True), columns)
