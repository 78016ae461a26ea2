"""Which weights make the 2048 heuristics of MCTS-Expectimax best? CMA-ES on Ray, after Kutsch 2017, 7.1.2.

\b
Examples:
    python studies/cmaes_heuristics.py                          about three minutes on two cores
    python studies/cmaes_heuristics.py --preset paper           the thesis's setting: hours, better on a cluster
    python studies/cmaes_heuristics.py --address auto --store postgresql://user@host/turnier
    optuna-dashboard sqlite:///turnier.db                       watch it from another terminal

Stop it with Ctrl-C or lose the machine; the same command goes on where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.agents.registry import EVALUATORS, make_agent
from turnier.arena.executors import make_executor
from turnier.command import in_this_environment, run_app
from turnier.games.errors import unknown
from turnier.results.store import DEFAULT_URL, Store
from turnier.search.report import plot_study, print_comparison, print_parameters
from turnier.search.study import Study, StudyDefinition

# Kutsch 2017, 9.4: the best of the thesis, found in generation 5.
PUBLISHED = (
    "heuristics2048(empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080,rollout=0.8435)"
)


@dataclass(frozen=True)
class Preset:
    """How much a study plays, and with which search."""

    search: str  # the agent without its evaluator
    population: int
    games: int  # a candidate
    generations: int
    held_out: int  # fresh games of every agent in the final comparison


PRESETS = {
    # Under noise many candidates with a game each learn faster than few candidates with many games.
    "quick": Preset("mctse(iterations=50,rollout_depth=10,maxnodes=50)", 64, 1, 16, 100),
    "paper": Preset("mctse(iterations=3500,rollout_depth=150,maxnodes=500)", 12, 25, 10, 100),
    # For tests and for trying commands out.
    "tiny": Preset("mctse(iterations=10,rollout_depth=2,maxnodes=10)", 8, 2, 3, 20),
}

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help=__doc__)
def main(
    preset: Annotated[str, typer.Option(help="quick, paper or tiny")] = "quick",
    store: Annotated[str, typer.Option(help="SQLite or PostgreSQL URL of results and study")] = DEFAULT_URL,
    name: Annotated[str | None, typer.Option(help="the study's name, default cmaes_heuristics-PRESET")] = None,
    seed: Annotated[int, typer.Option(help="same seed, same study")] = 1,
    generations: Annotated[int | None, typer.Option(help="generations in all, default by preset")] = None,
    population: Annotated[int | None, typer.Option(help="candidates a generation, default by preset")] = None,
    games: Annotated[int | None, typer.Option(help="games a candidate, default by preset")] = None,
    held_out: Annotated[
        int | None, typer.Option(help="fresh games of each agent at the end, default by preset")
    ] = None,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join, such as auto; default: RAY_ADDRESS")] = None,
    picture: Annotated[Path, typer.Option(help="folder for the picture")] = Path("reports"),
) -> None:
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    chosen = PRESETS[preset]
    console = Console()
    search = make_agent(chosen.search)
    start = search.replace(evaluator=EVALUATORS.make("heuristics2048"))
    definition = StudyDefinition(
        name=name or f"cmaes_heuristics-{preset}",
        game="2048(size=4)",
        agent=start.full_text(),
        parameters=("evaluator.*",),
        population=population or chosen.population,
        games=games or chosen.games,
        seed=seed,
    )
    study = Study(Store.open(store), definition)
    url, dashboard = study.store.shown_url, in_this_environment("optuna-dashboard")
    console.print(f"Study {definition.name} in {url}; watch it with: {dashboard} {url}")
    with make_executor(executor, workers, address) as pool:
        study.run(generations or chosen.generations, pool)
        best, claimed = study.best()
        agents = {
            "default heuristics": start,
            "plain rollouts": search,
            "Kutsch 2017": search.replace(evaluator=EVALUATORS.make(PUBLISHED)),
            "best candidate": best,
            "recommended": study.recommended(),
        }
        scores = study.play_held_out(agents, held_out or chosen.held_out, pool)
    print_parameters(console, study, {k: agents[k] for k in ("default heuristics", "best candidate", "recommended")})
    print_comparison(console, scores, "default heuristics", "held-out games: seeds that the search has not seen")
    console.print(
        f"The best candidate claimed {claimed:,.0f} in the search, and luck is part of that.\n"
        f"Recommended, the mean of the distribution: {agents['recommended']}"
    )
    plot_study(study, scores, picture / f"{definition.name}.png")
    console.print(f"Picture: {picture / definition.name}.png")


if __name__ == "__main__":
    run_app(app)
