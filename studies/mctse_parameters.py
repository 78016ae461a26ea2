"""How strong can MCTS-Expectimax be at 2048 within a given time per move? A front of score against time.

\b
Examples:
    python studies/mctse_parameters.py                        some minutes on two cores
    python studies/mctse_parameters.py --preset paper         more candidates, with more iterations
    optuna-dashboard sqlite:///turnier.db                     its Pareto front, from another terminal

Stop it with Ctrl-C or lose the machine; repeat the command to resume.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from turnier.agents.registry import make_agent
from turnier.commands.command_line import in_this_environment
from turnier.commands.options import (
    DEFAULT_URL,
    EXECUTOR,
    AddressOption,
    ExecutorOption,
    PictureOption,
    SeedOption,
    StoreOption,
    StudyNameOption,
    WorkersOption,
)
from turnier.commands.runs.front import show_front
from turnier.commands.scripts.script import choose_preset, run_script
from turnier.results.store.store import Store
from turnier.search.pareto import ParetoDefinition, ParetoStudy


class Preset(NamedTuple):
    iterations: str  # the range that is searched
    population: int
    games: int  # per candidate
    generations: int
    held_out: int


PRESETS = {
    "quick": Preset("10..200", 16, 4, 5, 30),
    "paper": Preset("10..1000", 24, 6, 8, 100),
    "tiny": Preset("10..20", 4, 1, 2, 2),  # for tests
}
START = "mctse(iterations={},rollout_depth=10,maxnodes=100)"


def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    store: StoreOption = DEFAULT_URL,
    name: StudyNameOption = None,
    seed: SeedOption = 1,
    executor: ExecutorOption = EXECUTOR,
    workers: WorkersOption = None,
    address: AddressOption = None,
    picture: PictureOption = Path("reports"),
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    start = make_agent(START.format(chosen.iterations.partition("..")[0]))
    parameters = (f"iterations={chosen.iterations}", "rollout_depth=0..100", "maxnodes=2..500", "exploration=0..4")
    definition = ParetoDefinition(
        name=name or f"mctse_parameters-{preset}", game="2048(size=4)", agent=start.full_text(), parameters=parameters,
        population=chosen.population, games=chosen.games, seed=seed,
    )  # fmt: skip
    with Store.open(store) as results:
        study = ParetoStudy(results, definition)
        url = results.shown_url
        console.print(f"Study {definition.name}; watch it with: {in_this_environment('optuna-dashboard')} {url}")
        games = chosen.generations * study.generation_games
        points = study.search(games, chosen.held_out, executor, workers, address)
        show_front(console, study, points, picture)


if __name__ == "__main__":
    run_script(main, __doc__)
