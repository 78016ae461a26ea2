"""`turnier tune`: searches the declared parameters of any agent, at any game."""

from __future__ import annotations

import json
import math
import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    VERIFY,
    GameArgument,
    JsonOption,
    SeedOption,
    StoreOption,
    TrustOption,
    VerifyOption,
)
from turnier.commands.place import placed
from turnier.core.errors import MAX_GAMES, UserError, require_at_most
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.results.store.store import Store
    from turnier.search.definition import StudyDefinition
    from turnier.search.study import Front, Study

WATCH_SECONDS = 2.0


def read_games(text: str) -> int:
    """Returns the number in a budget such as 20000games; raises UserError for anything else."""
    number = re.fullmatch(r"\s*([1-9][0-9_,]*)\s*games?\s*", text)
    if not number:
        raise UserError(f"a budget must be a number of games, such as 20000games, got {text!r}.")
    games = int(re.sub("[_,]", "", number[1]))
    require_at_most(MAX_GAMES, games, "games of a search")
    return games


@placed
def tune(
    game: GameArgument,
    agent: Annotated[str, typer.Argument(help="the agent that the search starts from; it fixes all other parameters")],
    params: Annotated[str, typer.Option(help='parameters to search, such as "rollout_depth=0..50,evaluator.*"')],
    budget: Annotated[str, typer.Option(help="games of the search, not counting held-out games")] = "5000games",
    against: Annotated[list[str] | None, typer.Option(help="an opponent; repeat for more")] = None,
    sampler: Annotated[str, typer.Option(help="cmaes, cmaes_lr, tpe, gp, random, grid or spsa")] = "cmaes",
    noise: Annotated[
        str, typer.Option(help="fixed, growing, reevaluated or racing; default: what suits the sampler")
    ] = "",
    objectives: Annotated[
        str, typer.Option(help="strength; for a front by NSGA-II, strength,time or strength,certainty")
    ] = "strength",
    name: Annotated[str, typer.Option(help="name of the study; default: derived from its settings")] = "",
    seed: SeedOption = 1,
    verify: VerifyOption = VERIFY,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where(),
    trust: TrustOption = False,
    watch: Annotated[bool, typer.Option("--watch", help="only show the progress of this study, live")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the parameters with which an agent plays best.

    In single-player games the mean score counts, otherwise the share of points against every opponent in every seat. At
    the end, the start, the agent that the search proposes and its best candidates play held-out games, which the search
    has not seen, until a sequential test shows that one is better than the start; otherwise the start is kept, and
    where that is undecided, the command that plays on is shown. Repeat the command to resume a search that was stopped;
    with --name, a larger budget continues it.

    \b
    Examples:
      turnier tune 2048 "mc(iterations=10)" --params rollout_depth --budget 60games
      turnier tune 2048 "mctse(iterations=50,evaluator=heuristics2048)" --params "evaluator.*" --budget 5000games
      turnier tune yavalath "mcts(iterations=200)" --params exploration=0..4 --against "mcts(iterations=300)"
      turnier tune 2048 "mctse(iterations=50,rollout_depth=10)" --params iterations=10..1000 --objectives strength,time
      turnier tune 2048 "expectimax(depth=1,evaluator=rows2048)" --params evaluator.empty,evaluator.corner \\
        --sampler "cmaes(population=32)" --noise "racing(games=8)"
    """
    games, opponents = read_games(budget), against or []
    from turnier.search.front.second_objective import read_objectives

    if second := read_objectives(objectives):
        if (sampler, noise, watch) != ("cmaes", "", False):
            raise UserError(
                f"a front of strength and {second.name} is searched by NSGA-II; leave out --sampler, --noise and"
                " --watch."
            )
        from turnier.search.study import Front

        front = Front(game, agent, [params], against=opponents, objectives=objectives, seed=seed, name=name)
        front.require(games)
        _tune_front(front, games, verify, store, where, as_json)
        return
    from turnier.results.store.store import Store
    from turnier.search.study import Study

    study = Study(game, agent, [params], against=opponents, sampler=sampler, noise=noise, seed=seed, name=name)
    if watch:
        _watch(store, study, games, as_json)
        return
    from turnier.commands.runs.show import show
    from turnier.commands.search_tables import print_games, print_ranges

    study.require(games)
    console = Console()
    with Store.open(store) as opened:
        definition = study.definition(games, opened)
        if not as_json:
            console.print(f"Study {definition.name}: {definition.sampler}, {definition.noise}", markup=False)
            print_ranges(console, definition.agent, definition.parameters)
            _say_what_else_is_stored(console, opened, study, definition, games)
        results = study.run(opened, budget=games, verify=verify, where=where)
        if not as_json:
            print_games(console, results.run)
        show(results, as_json)


def _say_what_else_is_stored(
    console: Console, store: Store, study: Study, definition: StudyDefinition, budget: int
) -> None:
    """Says that a new study asks what a stored one asked with a smaller budget, and how to continue that one."""
    from turnier.search.samplers.registry import SAMPLERS
    from turnier.search.storage.commands import tune_command
    from turnier.search.storage.studies import run_id_of

    if run_id_of(definition.name) in {run.id for run in store.runs()}:
        return
    if earlier := study.same_question(store):
        sampler = SAMPLERS.make(earlier.sampler)
        console.print(
            f"Study {earlier.name} asks the same with {sampler}, which suited another budget; this is a new study."
            f" To continue that one: {tune_command(store, earlier, budget)}",
            soft_wrap=True, markup=False, highlight=False,
        )  # fmt: skip


def _tune_front(
    front: Front,
    games: int,
    verify: float,
    store: str,
    where: Where,
    as_json: bool,
) -> None:
    """Searches for a front of strength and a second objective."""
    from turnier.commands.runs.show import show
    from turnier.commands.search_tables import print_ranges
    from turnier.results.store.store import Store

    console = Console()
    with Store.open(store) as opened:
        definition = front.definition(games, opened)
        name = definition.name
        if not as_json:
            console.print(f"Study {name}: {front.objective.name} and {front.second.title}, NSGA-II")
            print_ranges(console, definition.agent, definition.parameters)
        results = front.run(opened, budget=games, verify=verify, where=where)
        show(results, as_json)


def _watch(url: str, study: Study, games: int, as_json: bool) -> None:
    """Shows the progress of a study until it ends or stops; as JSON, once."""
    from rich.live import Live

    from turnier.commands.search_tables import state_table
    from turnier.results.store.store import Store
    from turnier.search.storage.study_state import study_state

    with Store.open(url, read_only=True) as store:
        name = study.definition(games, store).name
        state = study_state(store, name)
        if as_json:
            shown = {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in vars(state).items()}
            print(json.dumps(shown, indent=2))
            return
        with Live(state_table(state), auto_refresh=False) as live:
            while state.state == "running":
                time.sleep(WATCH_SECONDS)
                state = study_state(store, name)
                live.update(state_table(state), refresh=True)
