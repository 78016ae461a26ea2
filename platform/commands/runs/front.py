"""The search for a front of strength and time, by `turnier tune --objectives strength,time` and by studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.workers.make import make_executor
from turnier.commands.search_tables import print_points
from turnier.games.registry import GAMES
from turnier.search.objective import Objective
from turnier.search.pareto import ParetoDefinition, ParetoStudy, Point
from turnier.search.space import read_parameters

GENERATIONS = 8  # that share a budget, if it is large enough


def front_definition(
    game: str, agent: str, params: str, against: list[str], budget: int, name: str, seed: int
) -> ParetoDefinition:
    """Returns the study's definition, with a population and games per candidate that suit the budget."""
    texts = GAMES.make(game).full_text(), AGENTS.make(agent).full_text()
    opponents = tuple(AGENTS.make(opponent).full_text() for opponent in against)
    units = budget // Objective(GAMES.make(game), opponents, seed).unit_games // GENERATIONS
    games = max(1, min(8, units // 16))
    population = max(4, min(32, units // games))
    digest = f"{derive_seed(*texts, params, *opponents, population, games, seed):016x}"[:6]
    own = name or f"{GAMES.make(game).name}-{AGENTS.make(agent).name}-front-{digest}"
    return ParetoDefinition(own, *texts, read_parameters(params), opponents, population, games, seed)


def search_front(
    study: ParetoStudy, games: int, held_out: int, executor: str, workers: int | None, address: str | None
) -> list[Point]:
    """Searches with so many games, and returns the start and the front as held-out games show them."""
    with make_executor(executor, workers, address) as pool:
        study.run(games, pool)
        return study.play_final(study.finalists(), held_out, pool)


def show_front(console: Console, study: ParetoStudy, points: Sequence[Point], folder: Path | None = None) -> None:
    """Prints the start and the front, and draws them into a picture if there is a folder for it."""
    print_points(console, study, points)
    if folder:
        from turnier.dashboards.reports.pictures import save_front_picture

        path = folder / f"{study.definition.name}.png"
        save_front_picture(path, study.store, study.definition.name, points)
        console.print(f"Picture: {path}", soft_wrap=True)
