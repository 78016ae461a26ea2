"""The command line of a CMA-ES study of an agent's parameters; a script says what to search.

Annotations are evaluated here at once, since they name what the script said.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.command_line import in_this_environment
from turnier.commands.options import (
    DEFAULT_URL,
    VERIFY,
    PictureOption,
    StoreOption,
    StudyNameOption,
)
from turnier.commands.place import placed
from turnier.commands.search_tables import print_figures, print_games, print_parameters, print_ranges, print_verdict
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.storage.commands import to_play_on
from turnier.search.study_run import StudyRun
from turnier.studies.scripts.script import choose_preset, run_script

PICTURES = "turnier.dashboards.reports.pictures"


@dataclass(frozen=True)
class Preset:
    """The sizes of a study, and the agent that it starts from."""

    agent: str  # where the search starts, and what the result is compared with
    population: int
    games: int  # per candidate
    generations: int
    verify: float = VERIFY  # held-out games of all agents at the most, as a share of the search's


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
        description: what `--help` says.
        title: the study's name is TITLE-PRESET.
        game: the game in text form.
        parameters: those to search, see search.space.
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
            float | None,
            typer.Option(help="maximum held-out games, as a share of the search's; default: by preset"),
        ] = None,
        where: Where = Where("ray"),
        picture: PictureOption = Path("reports"),
    ) -> None:
        chosen = choose_preset(presets, preset)
        console = Console()
        start = make_agent(chosen.agent)
        definition = StudyDefinition(
            name=name or f"{title}-{preset}",
            game=game,
            agent=start.full_text(),
            parameters=parameters,
            sampler=f"cmaes(population={population or chosen.population})",
            noise=f"fixed(games={chosen.games if games is None else games})",
            seed=seed,
        )
        with Store.open(store) as results:
            study = StudyRun(results, definition)
            url, dashboard = results.shown_url, in_this_environment("optuna-dashboard")
            console.print(f"Study {definition.name} in {url}; watch it with: {dashboard} {url}")
            print_ranges(console, definition.agent, definition.parameters)
            others, share = baselines(start), chosen.verify if verify is None else verify
            length = generations or chosen.generations
            later = study.max_held_out_games(share, length * study.next_generation({}).max_games, others)
            with ThreadPoolExecutor(1) as aside:  # kernels are loaded while Ray starts
                loading = aside.submit(study.load_kernels)
                started = make_executor(where)
            with _closed_later(started) as pool, study.in_phases(later):
                loading.result()  # raises what went wrong
                study.run(length, pool)
                # The libraries that draw pictures take a second to load, which nobody waits for now.
                threading.Thread(target=import_module, args=[PICTURES], name="loading", daemon=True).start()
                playing = study.finalists(start_label, others)
                final = study.compare(playing, pool, share)
            print_parameters(console, study, {label: one.agent for label, one in playing.items()})
            print_figures(console, final.verdict, study.objective.name)
            print_games(console, study)
            print_verdict(console, final.verdict, to_play_on(results, definition.stored, final.verdict))
            from turnier.dashboards.reports.pictures import save_study_picture  # a second, while workers end

            save_study_picture(picture / f"{definition.name}.png", results, definition.name, final.values)
        console.print(f"Picture: {picture / definition.name}.png")

    run_script(main, description)


@contextlib.contextmanager
def _closed_later(executor: Executor) -> Iterator[Executor]:
    """Closes an executor while what follows is done: ending Ray takes a second. The process waits for it."""
    with contextlib.ExitStack() as failed:
        failed.enter_context(executor)
        yield executor
        failed.pop_all()
    threading.Thread(target=executor.close, name="closing").start()
