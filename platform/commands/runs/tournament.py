"""`turnier tournament`: plays a tournament into the store, and shows scores and ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    BudgetOption,
    OpeningsOption,
    SeedOption,
    StoreOption,
    TrustOption,
)
from turnier.commands.place import OPTIONS, placed, words_of
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    import pandas as pd

    from turnier.arena.schedules.adaptive import AdaptiveTournament
    from turnier.results.store.store import Run
    from turnier.runs.tournament import Tournament, TournamentResults


@placed
def tournament(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help='a game, such as yavalath or "2048(size=3)"')] = "",
    agents: Annotated[list[str] | None, typer.Argument(help='agents, such as random "mc(iterations=200)"')] = None,
    games: Annotated[
        int,
        typer.Option(
            help="games per agent (one seat) or per group of agents; adaptive: maximum games of the tournament"
        ),
    ] = 20,
    seed: SeedOption = 1,
    form: Annotated[str, typer.Option("--format", help="round_robin, gauntlet, swiss or adaptive")] = "round_robin",
    budget: BudgetOption = "",
    openings: OpeningsOption = 0,
    exactly: Annotated[
        bool, typer.Option("--exactly", help="do not round --games up to whole sets of openings and seat orders")
    ] = False,
    challengers: Annotated[
        int, typer.Option(help="gauntlet: number of challengers, the agents named first, who play the others")
    ] = 1,
    rounds: Annotated[
        int,
        typer.Option(
            help="swiss: number of rounds, 0 = until one agent is unbeaten if the better one always wins", min=0
        ),
    ] = 0,
    top: Annotated[int, typer.Option(help="adaptive: number of first places that must be certain")] = 3,
    certain: Annotated[float, typer.Option(help="adaptive: required probability that they are right")] = 0.95,
    anchor: Annotated[
        str, typer.Option(help="the agent whose Elo is 0, in every view of this tournament; default: the mean is")
    ] = "",
    store: StoreOption = DEFAULT_URL,
    where: Where = Where(),
    trust: TrustOption = False,
    resume: Annotated[
        str,
        typer.Option(
            help="the run to resume, as `turnier status` shows it; takes no other options except where to play"
        ),
    ] = "",
) -> None:
    """Play a tournament and rate its agents.

    Agents play in all seat orders; in single-player games they all play the same seeds. Stored games are not played
    again: repeat the command to resume a tournament that was stopped.

    \b
    Formats:
      round_robin  everyone plays everyone
      gauntlet     the first agents play the others
      swiss        in each round, agents with equal points meet; for many agents
      adaptive     plays where the first places are least certain, until they are certain (two seats)

    \b
    Examples:
      turnier tournament 2048 random "mc(iterations=200,rollout_depth=20)" --games 20 --seed 7
      turnier tournament yavalath mcts "alphabeta(depth=4)" "mc(iterations=100)" --budget 50ms --format gauntlet
      turnier tournament --resume tournament:1f0c    # or repeat the command
    """
    if resume:
        named = [game, *(agents or ())] if game else []
        _refuse_options(context)
        begun, words = _resumed(resume, named, store)
        words += ["--store", store, *words_of(where)]
        context.find_root().command(words, standalone_mode=False, obj=begun)
        return
    if not game or not agents:
        raise UserError("a tournament needs a game and agents, or a run after --resume; see turnier tournament --help.")
    from turnier.arena.schedules.round_robin import openings as openings_of
    from turnier.arena.schedules.round_robin import seat_orders
    from turnier.commands.other_code import print_other_code
    from turnier.results.store.store import Store
    from turnier.runs.tournament import Tournament

    console = Console()
    planned = Tournament(
        game,
        agents,
        games=games,
        seed=seed,
        format=form,
        openings=openings,
        exactly=exactly,
        challengers=challengers,
        rounds=rounds,
        top=top,
        certainty=certain,
        budget=budget,
        anchor=anchor,
    )
    # An agent against itself has fewer orders of seats.
    if openings and not exactly and len(set(planned.agents)) == len(agents):
        starts, orders = len(openings_of(planned.game, openings)), len(seat_orders(planned.game.num_seats))
        if made := -games % (starts * orders):
            text = f"rounded up to {games + made:,}: {starts:,} openings x {orders} orders of seats"
            hint = "--exactly keeps to the number asked for"
            console.print(f"{games:,} games per group are {text}; {hint}.", highlight=False, soft_wrap=True)
    with Store.open(store) as opened:
        has_begun = planned.has_begun(opened)
        if context.obj:
            _require_same(planned, context.obj)
        warned_of = [] if has_begun else _warn_of_one_game(console, planned)
        results = planned.run(opened, where=where)
        if results.stored_before:
            console.print(f"{results.stored_before} of {results.total} games were stored already and not played again.")
        _print(console, results, warned_of)
        print_other_code(opened, results.id)


def _warn_of_one_game(console: Console, planned: Tournament) -> list[str]:
    """Says which agents would repeat one game against each other, if there are such, and returns them."""
    from turnier.agents.registry import agent_of
    from turnier.arena.randomness import one_game, repeats_one_game
    from turnier.arena.schedules.round_robin import seat_orders

    seats = planned.game.num_seats
    if seats == 1 or planned.openings or planned.games <= len(seat_orders(seats)):
        return []
    found = [agent for agent in map(agent_of, planned.agents) if repeats_one_game(planned.game, [agent])]
    if len(found) < seats:
        return []
    console.print(str(one_game(planned.game, found, _cure(planned))), soft_wrap=True, markup=False, highlight=False)
    return [str(agent) for agent in found]


def _print_repeats(console: Console, frame: pd.DataFrame, planned: Tournament, warned_of: list[str]) -> None:
    """Says which agents repeated games by construction, if there are others than those of whom that was said before."""
    repeated = frame[frame["repeat"]]
    labels = sorted(repeated["label"].unique())
    if set(labels) - set(warned_of):
        among = frame["label"].isin(labels).groupby(frame["match"]).all()
        again = f"{' and '.join(labels)} {'play' if len(labels) > 1 else 'plays'} the same game with every seed"
        numbers = f"{among.sum():,} games, {among.sum() - repeated['match'].nunique():,} different"
        console.print(f"{numbers}: {again}; {_cure(planned)}.", soft_wrap=True, markup=False, highlight=False)


def _cure(planned: Tournament) -> str:
    """Returns what to do where games are repeated."""
    from turnier.arena.schedules.round_robin import plies_for_openings, seat_orders

    if planned.plan is None:
        return "round robins and gauntlets start from positions that differ with --openings 1"
    orders = len(seat_orders(planned.game.num_seats))
    plies = max(planned.openings + 1, plies_for_openings(planned.game, -(-planned.games // orders)))
    return f"start from positions that differ with --openings {plies}"


def _print(console: Console, results: TournamentResults, warned_of: list[str]) -> None:
    from turnier.commands.standings_tables import print_standings
    from turnier.commands.tables import print_failures, print_seats, print_summary, require_rated
    from turnier.results.alike_games import results_frame
    from turnier.results.failures import list_failures
    from turnier.results.frames import Standings, Terms, seat_summary, summary

    frame = results_frame(results.store, results.id)
    terms = Terms.of_runs(results.store, [results.id])
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, Standings.of(frame, terms=terms), anchor=terms.anchor)
    if results.adaptive:
        text = _first_places(results.adaptive, results.tournament.certainty)
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    _print_repeats(console, frame, results.tournament, warned_of)
    print_failures(console, results.store, list_failures(results.store, [results.id]))
    require_rated(frame)


def _first_places(adaptive: AdaptiveTournament, required: float) -> str:
    from turnier.agents.registry import label_of
    from turnier.core.number_text import number

    leaders = ", ".join(f"{place}. {label_of(agent)}" for place, agent in enumerate(adaptive.leaders(), 1))
    certain = f"certain to {number(100 * adaptive.certainty)} % after {adaptive.games:,} games"
    if adaptive.certainty >= required:
        return f"The first places are {certain}: {leaders}."
    return f"The first places are not yet decided, only {certain}, see --games: {leaders}."


def _resumed(run: str, named: Sequence[str], store: str) -> tuple[Run, list[str]]:
    """Returns a tournament and the words of the command that last played it; raises UserError where there is none."""
    from turnier.results.store.manifest import started_with
    from turnier.results.store.progress import stored_command
    from turnier.results.store.store import Store
    from turnier.results.versions import pinned

    if named:
        raise UserError(f"--resume takes game and agents from the run, got {' '.join(named)} too; leave them out.")
    with Store.open(store, read_only=True) as results:
        stored = results.find_run(run)
        words = list(stored_command(results, stored.id))
    if stored.kind != "tournament":
        raise UserError(f"--resume resumes a tournament, got a {stored.kind}; repeat the command that began it.")
    if words[1:2] != ["tournament"]:
        raise UserError(
            f"{stored.id} must have been played by `turnier tournament` of this version to be resumed by its name;"
            " repeat the command that began it."
        )
    words = pinned(words, stored.definition)
    started_with(words)
    return stored, words[1:]


def _refuse_options(context: typer.Context) -> None:
    """Raises UserError if options beside --resume say what to play, which the run says."""
    places = {"resume", "store", "trust", "game", "agents", *OPTIONS}
    given = []
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name not in places and source is not None and source.name == "COMMANDLINE":
            given.append(option.opts[0])
    if given:
        raise UserError(
            f"--resume plays a run as it was begun, got {', '.join(given)} too; leave that out, or repeat the command"
            " with it."
        )


def _require_same(planned: Tournament, begun: Run) -> None:
    """Raises UserError where a command plays another tournament by now, as when a file that it names has changed."""
    if planned.run_id != begun.id:
        now, then = ("; ".join((each["game"], *each["agents"])) for each in (planned.definition, begun.definition))
        raise UserError(
            f"a tournament must be resumed with the game and agents that it began with ({then}), but the command of"
            f" {begun.id} now means others ({now}); restore the files, or repeat the command with the former names."
        )
