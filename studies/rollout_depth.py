"""How many plies should a rollout of plain Monte Carlo play at 2048, when its time is fixed? After Kutsch 2017, 7.1.1.

\b
Deeper rollouts see more and leave time for fewer of them: every candidate spends about the same number of plies.

\b
Examples:
    python studies/rollout_depth.py                        some minutes on two cores
    python studies/rollout_depth.py --preset paper         more depths, with more games
    python studies/rollout_depth.py --plies 20000          twice the time a move
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.workers.make import make_executor
from turnier.commands.command_line import run_app
from turnier.core.errors import unknown
from turnier.dashboards.figures.charts import Figure, lines, save
from turnier.results.store import DEFAULT_URL
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_into
from turnier.statistics.intervals import mean_interval

GAME = "2048(size=4)"


class Preset(NamedTuple):
    plies: int  # of all rollouts of a move
    depths: tuple[int, ...]
    games: int  # of each depth, all on the same seeds


PRESETS = {
    "quick": Preset(2_000, (2, 5, 10, 20, 40, 80), 40),
    "paper": Preset(10_000, (1, 2, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200), 200),
    "tiny": Preset(40, (2, 10), 3),  # for tests
}
app = typer.Typer(add_completion=False, rich_markup_mode=None)


def agent_of(plies: int, depth: int) -> str:
    """Returns the agent whose rollouts are so deep at most and have so many plies together."""
    return make_agent(f"mc(iterations={max(1, plies // depth)},rollout_depth={depth})").full_text()


@app.command(help=__doc__)
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    plies: Annotated[int | None, typer.Option(help="of all rollouts of a move, default by preset", min=200)] = None,
    games: Annotated[int | None, typer.Option(help="games of each depth, default by preset", min=2)] = None,
    seed: Annotated[int, typer.Option(help="same seed, same games")] = 1,
    store: Annotated[str, typer.Option(help="SQLite or PostgreSQL URL of results")] = DEFAULT_URL,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join; default: RAY_ADDRESS")] = None,
    picture: Annotated[Path, typer.Option(help="folder for the picture")] = Path("reports"),
) -> None:
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    chosen, console = PRESETS[preset], Console()
    budget, number = plies or chosen.plies, games or chosen.games
    agents = {depth: agent_of(budget, depth) for depth in chosen.depths}
    seeds = [derive_seed(seed, "rollout depth", i) for i in range(number)]
    wanted = {depth: [MatchSpec(GAME, (text,), one) for one in seeds] for depth, text in agents.items()}
    definition = {"plies": budget, "depths": list(chosen.depths), "games": number, "seed": seed}
    run = f"experiment:rollout_depth-{budget}-{number}-{seed}"
    # Games on the same seed stand together, so that stopped early it is still a comparison.
    specs = [wanted[depth][i] for i in range(number) for depth in chosen.depths]
    scores: dict[str, float] = {}
    with (
        Store.open(store) as results,
        make_executor(executor, workers, address) as pool,
    ):
        results.begin_run(run, "experiment", f"rollout depth, {budget:,} plies a move", definition)
        with run_bar(results, run, "rollout depth", len(specs)) as bar:
            for records in play_into(results, run, specs, pool, bar.skip):
                bar.advance(len(records))
        scores = {r.spec.id: r.scores[0] for r in results.records([spec.id for spec in specs])}
    found = {depth: mean_interval([scores[spec.id] for spec in its]) for depth, its in wanted.items()}
    show(console, budget, number, found)
    path = picture / f"rollout_depth-{budget}.png"
    plot(budget, found, path)
    console.print(f"Picture: {path}")


def show(console: Console, plies: int, games: int, found: dict[int, tuple[float, float]]) -> None:
    table = Table(title=f"mc with {plies:,} plies of rollouts a move, {games:,} games each")
    for heading in ("rollout depth", "rollouts a move", "mean score", "± 95 %"):
        table.add_column(heading, justify="right")
    best = max(found, key=lambda depth: found[depth][0])
    for depth, (mean, half) in found.items():
        style = "bold" if depth == best else None
        table.add_row(str(depth), f"{max(1, plies // depth):,}", f"{mean:,.0f}", f"{half:,.0f}", style=style)
    console.print(table)


def plot(plies: int, found: dict[int, tuple[float, float]], path: Path) -> None:
    rows = [
        {"depth": depth, "mean": mean, "low": mean - half, "high": mean + half, "agent": "mc"}
        for depth, (mean, half) in found.items()
    ]
    data, titles = pd.DataFrame(rows), ("maximum plies of a rollout", "mean score")
    chart = lines(data, "depth", "mean", "low", "high", "agent", titles, log=True)
    save(path, Figure(f"{plies:,} plies per move", chart, data, "95 % intervals (Student's t)."))


if __name__ == "__main__":
    run_app(app)
