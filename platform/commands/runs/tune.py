"""`turnier tune`: any agent of any game, tuned from its own parameter declaration."""

from __future__ import annotations

import json
import math
import re
import time
from typing import Annotated, Any

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

FEWEST_FRESH, MOST_FRESH = 20, 500  # games of each finalist at the end, where nothing is said
FRESH_SHARE = 50  # else so many times fewer than the budget
WATCH_SECONDS = 2.0


def read_games(text: str) -> int:
    """Returns the number in a budget such as 20000games; raises UserError for anything else."""
    found = re.fullmatch(r"\s*([1-9][0-9_,]*)\s*games?\s*", text)
    if not found:
        raise UserError(f"a budget must be a number of games, such as 20000games, got {text!r}.")
    return int(re.sub("[_,]", "", found[1]))


def definition_of(
    game: str, agent: str, params: str, against: list[str], budget: int, sampler: str, noise: str, name: str, seed: int
) -> Any:
    """Returns the study's definition, with what was left open chosen to suit the budget."""
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
    from turnier.arena.workers.make import make_executor
    from turnier.results.store.store import Store
    from turnier.search.final_comparison import finalists, play_final, print_rows
    from turnier.search.study import Study

    games = read_games(budget)
    if objectives != "strength":
        wanted = (game, agent, params, against or [], games, name, seed)
        _tune_front(objectives, wanted, (sampler, noise, watch), final, store, (executor, workers, address), as_json)
        return
    definition = definition_of(game, agent, params, against or [], games, sampler, noise, name, seed)
    if watch:
        _watch(store, definition.name, as_json)
        return
    console = Console()
    with Store.open(store) as results:
        study = Study(results, definition)
        if not as_json:
            console.print(f"Study {definition.name}: {study.objective.name}, {definition.sampler}, {definition.noise}")
        with make_executor(executor, workers, address) as pool:
            study.run_budget(games, pool)
            chosen = finalists(study)
            unit = study.objective.unit_games
            fresh = final or max(FEWEST_FRESH, min(MOST_FRESH, games // FRESH_SHARE))
            rows = play_final(study, chosen, max(2, fresh // unit), pool)[0]
        recommended = study.recommended()
        if as_json:
            shown = [vars(row) | {key: None for key, x in vars(row).items() if x != x} for row in rows]
            values = study.space.decode(study.search.recommended())
            found = {"study": definition.name, "sampler": definition.sampler, "noise": definition.noise}
            found |= {"games": study.games, "spare_games": study.spare_games, "parameters": values}
            print(json.dumps(found | {"recommended": str(recommended), "finalists": shown}, indent=2))
            return
        from turnier.commands.study_tables import print_parameters

        print_parameters(console, study, {label: one.agent for label, one in chosen.items()})
        print_rows(console, rows, study.objective.name)
        spare = f", {study.spare_games:,} spare games of recommendations" if study.spare_games else ""
        console.print(f"{study.games:,} games of candidates in {study.search.generation} generations{spare}.")
        console.print(f"Recommended: {recommended}", soft_wrap=True, markup=False, highlight=False)


def _tune_front(
    objectives: str,
    wanted: tuple[Any, ...],
    unsuited: tuple[str, str, bool],
    final: int,
    store: str,
    where: tuple[str, int | None, str | None],
    as_json: bool,
) -> None:
    """Searches for a front of strength and time."""
    from turnier.commands.runs.front import front_definition, search_front
    from turnier.results.store.store import Store
    from turnier.search.pareto import ParetoStudy

    if objectives != "strength,time":
        raise UserError(f"--objectives must be strength or strength,time, got {objectives!r}.")
    if unsuited != ("cmaes", "", False):
        raise UserError(
            "a front of strength and time is searched by NSGA-II; leave out --sampler, --noise and --watch."
        )
    definition, games = front_definition(*wanted), wanted[4]
    console = None if as_json else Console()
    with Store.open(store) as results:
        study = ParetoStudy(results, definition)
        if console:
            console.print(f"Study {definition.name}: {study.objective.name} and milliseconds a decision, NSGA-II")
        fresh = final or max(FEWEST_FRESH, min(MOST_FRESH, games // FRESH_SHARE))
        points = search_front(console, study, games, max(2, fresh // study.objective.unit_games), where, None)
    if as_json:
        shown = [point._asdict() | {"agent": str(point.agent)} for point in points]
        print(json.dumps({"study": definition.name, "finalists": shown}, indent=2))


def _watch(url: str, name: str, as_json: bool) -> None:
    """Shows how far a study is until nobody drives it any more; as JSON once."""
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
