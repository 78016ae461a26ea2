"""How strong can MCTS-Expectimax be at 2048 within a given time per move? A front of score against time.

\b
Examples:
    python studies/mctse_parameters.py                        a few minutes on two cores
    python studies/mctse_parameters.py --preset paper         more candidates, with more iterations
    optuna-dashboard sqlite:///turnier.db                     its Pareto front, from another terminal

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from turnier.agents.registry import make_agent
from turnier.arena.workers.where import Where
from turnier.commands.command_line import in_this_environment
from turnier.commands.options import DEFAULT_URL, PictureOption, SeedOption, StoreOption, StudyNameOption
from turnier.commands.place import placed
from turnier.commands.runs.show import show
from turnier.core.terminal.console import Console
from turnier.dashboards.reports.pictures import save_front_picture
from turnier.results.store.store import Store
from turnier.search.storage.results import FrontResults
from turnier.search.study import Study
from turnier.studies.scripts.script import choose_preset, run_script


class Preset(NamedTuple):
    iterations: str  # the searched range
    population: int
    games: int  # per candidate
    generations: int


PRESETS = {
    "quick": Preset("10..200", 16, 4, 5),
    "paper": Preset("10..1000", 24, 6, 8),
    "tiny": Preset("10..20", 4, 1, 2),  # for tests
}
VERIFY = 1.0  # held-out games at the end, as a share of the search's: a front has many points
START = "mctse(iterations={},rollout_depth=10,maxnodes=100)"


@placed
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    store: StoreOption = DEFAULT_URL,
    name: StudyNameOption = None,
    seed: SeedOption = 1,
    where: Where = Where("ray"),
    picture: PictureOption = Path("reports"),
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    start = make_agent(START.format(chosen.iterations.partition("..")[0]))
    parameters = (f"iterations={chosen.iterations}", "rollout_depth=0..100", "maxnodes=2..500", "exploration=0..4")
    front = Study(
        "2048(size=4)",
        start,
        parameters,
        budget=chosen.generations * chosen.population * chosen.games,
        objectives="strength,time",
        population=chosen.population,
        noise=f"fixed(games={chosen.games})",
        seed=seed,
        name=name or f"mctse_parameters-{preset}",
        verify=VERIFY,
    )
    with Store.open(store) as opened:
        url = opened.shown_url
        console.print(f"Study {front.label}; watch it with: {in_this_environment('optuna-dashboard')} {url}")
        results = front.run(opened, where=where)
        show(results)
        assert isinstance(results, FrontResults)
        path = picture / f"{front.label}.png"
        save_front_picture(path, opened, front.label, results.points)
        console.print(f"Picture: {path}", soft_wrap=True)


if __name__ == "__main__":
    run_script(main, __doc__)
