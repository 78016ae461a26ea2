"""The end of a search for a front of strength and time, as `turnier tune --objectives strength,time` and studies do."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from turnier.agents.registry import AGENTS
from turnier.arena.match import derive_seed
from turnier.arena.workers.make import make_executor
from turnier.commands.front_tables import print_points
from turnier.games.registry import GAMES
from turnier.search.objective import Objective
from turnier.search.pareto import ParetoDefinition, ParetoStudy, Point
from turnier.search.space import read_parameters

GENERATIONS = 8  # that a budget is shared out to, where it lasts


def front_definition(
    game: str, agent: str, params: str, against: list[str], budget: int, name: str, seed: int
) -> ParetoDefinition:
    """Returns the study's definition; its population and its games suit the budget."""
    texts = GAMES.make(game).full_text(), AGENTS.make(agent).full_text()
    opponents = tuple(AGENTS.make(opponent).full_text() for opponent in against)
    units = budget // Objective(GAMES.make(game), opponents, seed).unit_games // GENERATIONS
    games = max(1, min(8, units // 16))
    population = max(4, min(32, units // games))
    digest = f"{derive_seed(*texts, params, *opponents, population, games, seed):016x}"[:6]
    own = name or f"{GAMES.make(game).name}-{AGENTS.make(agent).name}-front-{digest}"
    return ParetoDefinition(own, *texts, read_parameters(params), opponents, population, games, seed)


def search_front(
    console: Console | None,
    study: ParetoStudy,
    games: int,
    held_out: int,
    where: tuple[str, int | None, str | None],
    picture: Path | None,
) -> list[Point]:
    """Searches, plays fresh games of the start and the front, and shows them (unless there is no console).

    Args:
        games: of the candidates in all.
        held_out: fresh units of each finalist.
        where: executor, workers and address.
        picture: the folder for the picture, None = no picture.
    """
    with make_executor(*where) as pool:
        study.run(games, pool)
        points = study.play_final(study.finalists(), held_out, pool)
    if console:
        print_points(console, study, points)
        if picture:
            from turnier.dashboards.reports.pictures import save_front_picture

            path = picture / f"{study.definition.name}.png"
            save_front_picture(path, study.store, study.definition.name, points)
            console.print(f"Picture: {path}")
    return points
