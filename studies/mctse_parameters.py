"""How strong can MCTS-Expectimax be at 2048 for so many milliseconds a move? A front of score against time.

\b
Examples:
    python studies/mctse_parameters.py                        some minutes on two cores
    python studies/mctse_parameters.py --preset paper         more candidates, with more iterations
    optuna-dashboard sqlite:///turnier.db                     its Pareto front, from another terminal

Stop it with Ctrl-C or lose the machine; the same command goes on where it was.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from turnier.agents.registry import make_agent
from turnier.commands.command_line import in_this_environment, run_app
from turnier.commands.runs.front import search_front
from turnier.core.errors import unknown
from turnier.results.store import DEFAULT_URL
from turnier.results.store.store import Store
from turnier.search.pareto import ParetoDefinition, ParetoStudy


class Preset(NamedTuple):
    iterations: str  # the range that is searched
    population: int
    games: int  # of a candidate
    generations: int
    held_out: int


PRESETS = {
    "quick": Preset("10..200", 16, 4, 5, 30),
    "paper": Preset("10..1000", 24, 6, 8, 100),
    "tiny": Preset("10..20", 4, 1, 2, 2),  # for tests
}
START = "mctse(iterations={},rollout_depth=10,maxnodes=100)"
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help=__doc__)
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    store: Annotated[str, typer.Option(help="SQLite or PostgreSQL URL of results and study")] = DEFAULT_URL,
    name: Annotated[str | None, typer.Option(help="the study's name, default mctse_parameters-PRESET")] = None,
    seed: Annotated[int, typer.Option(help="same seed, same games of each candidate")] = 1,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join; default: RAY_ADDRESS")] = None,
    picture: Annotated[Path, typer.Option(help="folder for the picture")] = Path("reports"),
) -> None:
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    chosen, console = PRESETS[preset], Console()
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
        search_front(console, study, games, chosen.held_out, (executor, workers, address), picture)


if __name__ == "__main__":
    run_app(app)
