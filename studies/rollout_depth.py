"""How many plies should a rollout of plain Monte Carlo play at 2048 in a fixed time? After Kutsch 2017, 7.1.1.

\b
Deeper rollouts see further, but leave time for fewer of them: all candidates spend about equally many plies per move.

\b
Examples:
    python studies/rollout_depth.py                        a few minutes on two cores
    python studies/rollout_depth.py --preset paper         more depths, with more games
    python studies/rollout_depth.py --plies 20000          twice the time per move
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer
from rich.table import Table

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.options import DEFAULT_URL, PictureOption, SeedOption, StoreOption
from turnier.commands.place import placed
from turnier.core.number_text import half_width_text, number
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.charts import lines
from turnier.dashboards.figures.figure import Figure, save
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_into
from turnier.statistics.intervals import mean_interval
from turnier.studies.scripts.script import choose_preset, run_script

GAME = "2048(size=4)"


class Preset(NamedTuple):
    plies: int  # of all rollouts per move
    depths: tuple[int, ...]
    games: int  # of each depth, all on the same seeds


PRESETS = {
    "quick": Preset(2_000, (2, 5, 10, 20, 40, 80), 40),
    "paper": Preset(10_000, (1, 2, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200), 200),
    "tiny": Preset(40, (2, 10), 3),  # for tests
}


def agent_of(plies: int, depth: int) -> str:
    """Returns the agent that spends `plies` per move on rollouts of at most `depth` plies."""
    return make_agent(f"mc(iterations={max(1, plies // depth)},rollout_depth={depth})").full_text()


@placed
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    plies: Annotated[
        int | None, typer.Option(help="plies per move in all rollouts together; default: by preset", min=200)
    ] = None,
    games: Annotated[int | None, typer.Option(help="games per depth; default: by preset", min=2)] = None,
    seed: SeedOption = 1,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where("ray"),
    picture: PictureOption = Path("reports"),
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    budget, number = plies or chosen.plies, games or chosen.games
    agents = {depth: agent_of(budget, depth) for depth in chosen.depths}
    seeds = [derive_seed(seed, "rollout depth", i) for i in range(number)]
    matches = {depth: [MatchSpec(GAME, (text,), match_seed) for match_seed in seeds] for depth, text in agents.items()}
    definition = {"plies": budget, "depths": list(chosen.depths), "games": number, "seed": seed}
    run = f"experiment:rollout_depth-{budget}-{number}-{seed}"
    # Games on the same seed are neighbours, so a run stopped early still compares the depths.
    specs = [matches[depth][i] for i in range(number) for depth in chosen.depths]
    with Store.open(store) as results, make_executor(where) as pool:
        results.begin_run(run, "experiment", f"rollout depth, {budget:,} plies a move", definition)
        with run_bar(results, run, "rollout depth", len(specs)) as bar:
            for records in play_into(results, run, specs, pool, bar.skip):
                bar.advance(len(records))
        scores = {r.spec.id: r.scores[0] for r in results.records([spec.id for spec in specs])}
    found = {depth: mean_interval([scores[spec.id] for spec in own]) for depth, own in matches.items()}
    print_table(console, budget, number, found)
    path = picture / f"rollout_depth-{budget}.png"
    plot(budget, found, path)
    console.print(f"Picture: {path}")


def print_table(console: Console, plies: int, games: int, found: Mapping[int, tuple[float, float]]) -> None:
    table = Table(title=f"mc with {plies:,} plies of rollouts per move, {games:,} games each")
    for heading in ("rollout depth", "rollouts per move", "mean score", "± 95 %"):
        table.add_column(heading, justify="right")
    best = max(found, key=lambda depth: found[depth][0])
    for depth, (mean, half) in found.items():
        style = "bold" if depth == best else None
        table.add_row(str(depth), f"{max(1, plies // depth):,}", number(mean, half), half_width_text(half), style=style)
    console.print(table)


def plot(plies: int, found: Mapping[int, tuple[float, float]], path: Path) -> None:
    rows = [
        {"depth": depth, "mean": mean, "low": mean - half, "high": mean + half, "agent": "mc"}
        for depth, (mean, half) in found.items()
    ]
    data, titles = pd.DataFrame(rows), ("maximum plies of a rollout", "mean score")
    chart = lines(data, "depth", "mean", "low", "high", "agent", titles, log=True)
    save(path, Figure(f"{plies:,} plies per move", chart, data, "95 % intervals (Student's t, wider by the skewness)."))


if __name__ == "__main__":
    run_script(main, __doc__)
