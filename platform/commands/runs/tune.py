"""`turnier tune`: searches the declared parameters of any agent, at any game."""

from __future__ import annotations

import json
import math
import re
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from turnier.commands.options import (
    DEFAULT_URL,
    EXECUTOR,
    AddressOption,
    ExecutorOption,
    GameArgument,
    JsonOption,
    SeedOption,
    StoreOption,
    WorkersOption,
)
from turnier.core.errors import UserError

if TYPE_CHECKING:
    from turnier.search.definition import StudyDefinition
    from turnier.search.pareto import ParetoDefinition

MIN_HELD_OUT, MAX_HELD_OUT = 20, 500  # held-out games of each finalist, unless an option says otherwise
HELD_OUT_SHARE = 50  # between these the budget divided by this number
WATCH_SECONDS = 2.0


def read_games(text: str) -> int:
    """Returns the number in a budget such as 20000games; raises UserError for anything else."""
    found = re.fullmatch(r"\s*([1-9][0-9_,]*)\s*games?\s*", text)
    if not found:
        raise UserError(f"a budget must be a number of games, such as 20000games, got {text!r}.")
    return int(re.sub("[_,]", "", found[1]))


def definition_of(
    game: str, agent: str, params: str, against: list[str], budget: int, sampler: str, noise: str, name: str, seed: int
) -> StudyDefinition:
    """Returns the study's definition, with unspecified settings chosen to suit the budget."""
    from turnier.agents.registry import AGENTS
    from turnier.games.registry import GAMES
    from turnier.search.definition import StudyDefinition
    from turnier.search.noise import NOISES
    from turnier.search.objective import Objective
    from turnier.search.samplers.registry import SAMPLERS
    from turnier.search.space import read_parameters

    made = SAMPLERS.make(sampler)
    strategy = NOISES.make(noise or made.usual_noise)
    opponents = tuple(AGENTS.make(opponent).full_text() for opponent in against)
    unit = Objective(GAMES.make(game), opponents, seed).unit_games
    made = made.within(budget // (unit * strategy.most(0, 1)))
    texts = GAMES.make(game).full_text(), AGENTS.make(agent).full_text()
    rest: dict[str, Any] = {"sampler": str(made), "noise": str(strategy), "against": opponents, "seed": seed}
    if name:
        return StudyDefinition(name, *texts, read_parameters(params), **rest)
    return StudyDefinition.named_by_content(*texts, read_parameters(params), **rest)


def tune(
    game: GameArgument,
    agent: Annotated[str, typer.Argument(help="where the search starts; it fixes what is not searched")],
    params: Annotated[str, typer.Option(help='parameters to search, such as "rollout_depth=0..50,evaluator.*"')],
    budget: Annotated[str, typer.Option(help="games of the search, without held-out games")] = "5000games",
    against: Annotated[list[str] | None, typer.Option(help="an opponent; repeat for more")] = None,
    sampler: Annotated[str, typer.Option(help="cmaes, cmaes_lr, tpe, gp, random, grid or spsa")] = "cmaes",
    noise: Annotated[
        str, typer.Option(help="fixed, growing, reevaluated or racing; default: what suits the sampler")
    ] = "",
    objectives: Annotated[str, typer.Option(help="strength, or strength,time for a front by NSGA-II")] = "strength",
    name: Annotated[str, typer.Option(help="name of the study; default: derived from its settings")] = "",
    seed: SeedOption = 1,
    final: Annotated[int, typer.Option(help="held-out games of each finalist, 0 = as suits the budget", min=0)] = 0,
    store: StoreOption = DEFAULT_URL,
    executor: ExecutorOption = EXECUTOR,
    workers: WorkersOption = None,
    address: AddressOption = None,
    watch: Annotated[bool, typer.Option("--watch", help="only show the progress of this study, live")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the parameters with which an agent plays best.

    In single-player games the mean score counts, otherwise the share of points against every opponent in every seat. At
    the end the start, the recommended agent and the best candidates play held-out games, which the search has not seen;
    a table compares the search's estimates with them. Repeat the command to resume a search that was stopped, also with
    a larger budget.

    \b
    Examples:
      turnier tune 2048 "mc(iterations=10)" --params rollout_depth --budget 60games
      turnier tune 2048 "mctse(iterations=50,evaluator=heuristics2048)" --params "evaluator.*" --budget 5000games
      turnier tune yavalath "mcts(iterations=200)" --params exploration=0..4 --against "mcts(iterations=300)"
      turnier tune 2048 mctse --params iterations=10..1000,rollout_depth=0..50 --objectives strength,time
      turnier tune 2048 "expectimax(depth=1,evaluator=rows2048)" --params evaluator.empty,evaluator.corner \\
        --sampler "cmaes(population=32)" --noise "racing(games=8)"
    """
    games, opponents = read_games(budget), against or []
    if objectives != "strength":
        if objectives != "strength,time":
            raise UserError(f"--objectives must be strength or strength,time, got {objectives!r}.")
        if (sampler, noise, watch) != ("cmaes", "", False):
            raise UserError(
                "a front of strength and time is searched by NSGA-II; leave out --sampler, --noise and --watch."
            )
        from turnier.commands.runs.front import front_definition

        front = front_definition(game, agent, params, opponents, games, name, seed)
        _tune_front(front, games, final, store, executor, workers, address, as_json)
        return
    definition = definition_of(game, agent, params, opponents, games, sampler, noise, name, seed)
    if watch:
        _watch(store, definition.name, as_json)
    else:
        _tune(definition, games, final, store, executor, workers, address, as_json)


def held_out_units(games: int, unit_games: int, requested: int) -> int:
    """Returns how many units of held-out games each finalist plays: as requested, otherwise as suits the budget."""
    suited = max(MIN_HELD_OUT, min(MAX_HELD_OUT, games // HELD_OUT_SHARE))
    return max(2, (requested or suited) // unit_games)


def _tune(
    definition: StudyDefinition,
    games: int,
    final: int,
    store: str,
    executor: str,
    workers: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Searches for the strongest agent."""
    from turnier.arena.workers.make import make_executor
    from turnier.commands.search_tables import print_parameters
    from turnier.results.store.store import Store
    from turnier.search.final_comparison import finalists, play_final, print_rows
    from turnier.search.study import Study

    console = Console()
    with Store.open(store) as results:
        study = Study(results, definition)
        if not as_json:
            console.print(f"Study {definition.name}: {study.objective.name}, {definition.sampler}, {definition.noise}")
        with make_executor(executor, workers, address) as pool:
            study.run_budget(games, pool)
            chosen = finalists(study)
            rows = play_final(study, chosen, held_out_units(games, study.objective.unit_games, final), pool)[0]
        recommended = study.recommended()
        if as_json:
            shown = [vars(row) | {key: None for key, x in vars(row).items() if x != x} for row in rows]
            values = study.space.decode(study.search.recommended())
            head: dict[str, Any] = {"study": definition.name, "sampler": definition.sampler, "noise": definition.noise}
            head |= {"games": study.games, "spare_games": study.spare_games, "parameters": values}
            print(json.dumps(head | {"recommended": str(recommended), "finalists": shown}, indent=2))
            return
        print_parameters(console, study, {label: one.agent for label, one in chosen.items()})
        print_rows(console, rows, study.objective.name)
        idle = f", {study.spare_games:,} games of recommendations by idle workers" if study.spare_games else ""
        console.print(f"{study.games:,} games of candidates in {study.search.generation} generations{idle}.")
        console.print(f"Recommended: {recommended}", soft_wrap=True, markup=False, highlight=False)


def _tune_front(
    definition: ParetoDefinition,
    games: int,
    final: int,
    store: str,
    executor: str,
    workers: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Searches for a front of strength and time."""
    from turnier.commands.runs.front import search_front, show_front
    from turnier.results.store.store import Store
    from turnier.search.pareto import ParetoStudy

    console = Console()
    with Store.open(store) as results:
        study = ParetoStudy(results, definition)
        if not as_json:
            console.print(f"Study {definition.name}: {study.objective.name} and milliseconds per decision, NSGA-II")
        held_out = held_out_units(games, study.objective.unit_games, final)
        points = search_front(study, games, held_out, executor, workers, address)
        if as_json:
            shown = [point._asdict() | {"agent": str(point.agent)} for point in points]
            print(json.dumps({"study": definition.name, "finalists": shown}, indent=2))
        else:
            show_front(console, study, points)


def _watch(url: str, name: str, as_json: bool) -> None:
    """Shows the progress of a study until it ends or stops; as JSON, once."""
    from rich.live import Live

    from turnier.results.store.store import Store
    from turnier.search.study_state import state_table, study_state

    with Store.open(url, read_only=True) as store:
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
