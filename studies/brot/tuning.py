"""Which parameters make Combi best? Four rounds of grid search as in Brot 2021, and CMA-ES with half of the games.

Every round of the grid halves the ranges around the best combination of the round before. What both found, and the
document's parameters, then play the same fresh games, and each plays against the document's Combi.

\b
Examples:
    python studies/brot/tuning.py                    scaled down, some minutes on two cores
    python studies/brot/tuning.py --preset paper

Stop it with Ctrl-C or lose the machine; the same command goes on where it was.
"""

from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from settings import NOTE, combi, game, strategies

from turnier.agents.registry import make_agent
from turnier.arena.executors import Executor, make_executor
from turnier.command import run_app
from turnier.experiment_command import play_and_print
from turnier.games.errors import unknown
from turnier.results.experiment import Experiment, Row
from turnier.results.store import DEFAULT_URL, Store
from turnier.search.definition import StudyDefinition
from turnier.search.honest import Finalist, play_final, print_rows
from turnier.search.study import Study

# filterValue, myStartProbability and minimaxActivationValue of the document, and where they are looked for.
PAPER = (0.69, 2.0, 0.001)
RANGES = {"filter_value": (0.4, 1.0), "start_probability": (0.5, 3.5), "minimax_activation": (0.0, 0.02)}
POPULATION = 9  # of CMA-ES
TEXT = """The same parameters of Combi (filterValue, myStartProbability, minimaxActivationValue) by four rounds of grid
search over games against the single strategies, as in the document, and by CMA-ES with half of the games. Each plays
against Combi with the document's parameters on other seeds."""


class Preset(NamedTuple):
    rounds: int  # of the grid
    steps: int  # of each parameter in a round
    games: int  # of a candidate against each opponent and seat order
    fresh: int  # seeds of the final comparison
    duels: int  # games against the document's Combi


PRESETS = {"quick": Preset(4, 3, 1, 20, 60), "paper": Preset(4, 3, 4, 200, 400), "tiny": Preset(2, 2, 1, 2, 2)}


def definition(preset: str, name: str, ranges: dict[str, tuple[float, float]], sampler: str) -> StudyDefinition:
    start = zip(ranges, PAPER, ranges.values(), strict=True)
    more = "".join(f",{key}={min(max(value, low), high)!r}" for key, value, (low, high) in start)
    opponents = tuple(make_agent(text).full_text() for text in strategies(preset).values() if text != "basic")
    return StudyDefinition(
        name=f"brot-{name}-{preset}",
        game=game(preset, 2),
        agent=make_agent(combi(preset, more)).full_text(),
        parameters=tuple(f"{key}={low!r}..{high!r}" for key, (low, high) in ranges.items()),
        sampler=sampler,
        noise=f"fixed(games={PRESETS[preset].games})",
        against=opponents[:1] if preset == "tiny" else opponents,
    )


def grid(preset: str, store: Store, executor: Executor, console: Console) -> Study:
    """Plays four rounds, each in half of the ranges of the one before; returns the last one's study."""
    ranges = dict(RANGES)
    rounds, steps, *_ = PRESETS[preset]
    for number in range(1, rounds + 1):
        sampler = f"grid(steps={steps},population={steps ** len(RANGES)})"
        study = Study(store, definition(preset, f"grid{number}", ranges, sampler))
        study.run(1, executor)
        found = study.space.decode(study.search.recommended())
        console.print(f"grid, round {number}: " + ", ".join(f"{key} {value:.4g}" for key, value in found.items()))
        for key, (low, high) in ranges.items():
            quarter = (high - low) / 4
            middle = min(max(float(found[key]), RANGES[key][0] + quarter), RANGES[key][1] - quarter)
            ranges[key] = (round(middle - quarter, 6), round(middle + quarter, 6))
    return study


def tune(preset: str, store: Store, executor: Executor) -> Study:
    study = Study(store, definition(preset, "cmaes", RANGES, f"cmaes(population={POPULATION})"))
    rounds, steps, *_ = PRESETS[preset]
    study.run(max(1, rounds * steps ** len(RANGES) // POPULATION // 2), executor)
    return study


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help=__doc__)
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    store: Annotated[str, typer.Option(help="SQLite or PostgreSQL URL")] = DEFAULT_URL,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join, such as auto")] = None,
) -> None:
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    console = Console()
    with Store.open(store) as results:
        with make_executor(executor, workers, address) as pool:
            by_grid, by_cmaes = grid(preset, results, pool, console), tune(preset, results, pool)
            finalists = {"Brot 2021": Finalist(make_agent(combi(preset)), None)}
            for label, study in (("four grids", by_grid), ("CMA-ES", by_cmaes)):
                finalists[label] = Finalist(study.recommended(), study.search.estimate())
            rows, _ = play_final(by_cmaes, finalists, PRESETS[preset].fresh, pool)
        print_rows(console, rows, by_cmaes.objective.name)
    found = [
        Row(label, game(preset, 2), (str(one.agent), combi(preset)), PRESETS[preset].duels)
        for label, one in list(finalists.items())[1:]
    ]
    experiment = Experiment("brot", f"tuned-{preset}", "Tuned Combi", TEXT + NOTE[preset], tuple(found), seed=2)
    play_and_print([experiment], store, executor, workers, address)


if __name__ == "__main__":
    run_app(app)
