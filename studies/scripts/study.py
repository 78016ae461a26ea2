"""The command line of a CMA-ES study of an agent's parameters; a script gives the search.

Annotations are evaluated here at once, since they depend on the script's arguments.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.workers.where import Where
from turnier.commands.command_line import in_this_environment
from turnier.commands.options import DEFAULT_URL, PictureOption, StoreOption, StudyNameOption
from turnier.commands.place import placed
from turnier.commands.runs.show import show
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.search.study import Study
from turnier.studies.scripts.script import choose_preset, run_script


@dataclass(frozen=True)
class Preset:
    """The sizes of a study, and its start."""

    agent: str  # the start of the search, with which the result is compared
    population: int
    games: int  # per candidate
    generations: int
    verify: float = 0.0  # maximum held-out games of all agents, as a share of the search's; 0 = the usual one


def run_study(
    description: str | None,
    title: str,
    game: str,
    parameters: tuple[str, ...],
    presets: Mapping[str, Preset],
    start_label: str,
    baselines: Callable[[Agent], Mapping[str, Agent]],
) -> None:
    """Runs a study script from its command line.

    Args:
        description: the text of `--help`.
        title: the study's name is TITLE-PRESET.
        game: the game in text form.
        parameters: to search, see search.space.
        presets: by name, the default one first.
        start_label: the name of the start in tables.
        baselines: the start -> other agents that play the held-out games.
    """

    @placed
    def main(
        preset: Annotated[str, typer.Option(help=", ".join(presets))] = next(iter(presets)),
        store: StoreOption = DEFAULT_URL,
        name: StudyNameOption = None,
        seed: Annotated[int, typer.Option(help="same seed, same study")] = 1,
        generations: Annotated[int | None, typer.Option(help="total number of generations; default: by preset")] = None,
        population: Annotated[int | None, typer.Option(help="candidates per generation; default: by preset")] = None,
        games: Annotated[int | None, typer.Option(help="games per candidate; default: by preset")] = None,
        verify: Annotated[
            float | None, typer.Option(help="maximum held-out games, as a share of the search's; default: by preset")
        ] = None,
        where: Where = Where("ray"),
        picture: PictureOption = Path("reports"),
    ) -> None:
        chosen, console = choose_preset(presets, preset), Console()
        start, size = make_agent(chosen.agent), population or chosen.population
        own = chosen.games if games is None else games
        study = Study(
            game,
            start,
            parameters,
            budget=(generations or chosen.generations) * size * own,
            sampler=f"cmaes(population={size})",
            noise=f"fixed(games={own})",
            name=name or f"{title}-{preset}",
            seed=seed,
            verify=chosen.verify if verify is None else verify,
            baselines={start_label: start, **baselines(start)},
        )
        with Store.open(store) as opened:
            url, dashboard = opened.shown_url, in_this_environment("optuna-dashboard")
            console.print(f"Study {study.label} in {url}; watch it with: {dashboard} {url}")
            for sentence in study.notices(opened):
                console.print(sentence, soft_wrap=True, markup=False, highlight=False)
            results = study.run(opened, where=where)
            show(results)
            from turnier.dashboards.reports.pictures import save_study_picture

            path = picture / f"{study.label}.png"
            save_study_picture(path, opened, study.label, results.held_out_values())
        console.print(f"Picture: {path}")

    run_script(main, description)
