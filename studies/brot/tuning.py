"""Which parameters make Combi best? Four rounds of grid search as in Brot 2021, and CMA-ES and TPE with half its games.

Every round of the grid halves the ranges around the best combination of the previous round. These three searches tune
the document's three parameters in games against its single strategies. A fourth search, by CMA-ES, starts from our
Combi and tunes parameters that the document only proposes, in games against the rollouts and the document's Combi. The
results and the document's parameters then play the same held-out games, each against the document's Combi.

\b
Examples:
    python studies/brot/tuning.py                    small agents on small boards
    python studies/brot/tuning.py --preset paper

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from dataclasses import replace
from typing import Annotated, NamedTuple

import typer

from turnier.agents.registry import make_agent
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.options import DEFAULT_URL, StoreOption
from turnier.commands.place import placed
from turnier.core.number_text import number
from turnier.core.terminal.console import Console
from turnier.dashboards.summaries.held_out import held_out_table
from turnier.dashboards.terminal import print_table, say
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.search.definition import StudyDefinition
from turnier.search.final_comparison import compare_finalists
from turnier.search.study_run import StudyRun
from turnier.search.verdict import Finalist
from turnier.studies.brot.constants import NOTE, combi, combi_of_brot, game, strategies
from turnier.studies.scripts.experiments import play_and_print
from turnier.studies.scripts.script import choose_preset, run_script

Ranges = dict[str, tuple[float, float]]

# The searched ranges of filterValue, myStartProbability and minimaxActivationValue.
RANGES: Ranges = {"filter_value": (0.4, 1.0), "start_probability": (0.5, 3.5), "minimax_activation": (0.0, 0.02)}
PROPOSED: Ranges = {
    "filter_value": (0.4, 1.0),
    "table_weight": (0.0, 1.0),
    "vary": (0.0, 0.9),
    "territory": (0.0, 30.0),
    "minimax_weight": (0.0, 30.0),
}
POPULATION = 9  # of the searches with half of the games
TEXT = """The same three parameters of Combi (filterValue, myStartProbability, minimaxActivationValue) by four rounds of
grid search over games against the single strategies, as in the document, and by CMA-ES and Optuna's TPE with half of
the games. `Wishes` are five parameters, most of which the document only wishes for (weight of the tables, paths varied,
minimax that counts territory and whose values are weighed instead of obeyed), by CMA-ES from our defaults on, in games
against the rollouts and the document's Combi. Shown is how often each wins on other seeds against Combi with the
document's parameters, and the last one against every single strategy."""


class Preset(NamedTuple):
    rounds: int  # of the grid
    steps: int  # of each parameter in a round
    games: int  # per candidate, opponent and seat order
    population: int  # of the search of the proposed parameters
    generations: int
    held_out: int  # maximum number of seeds of the final comparison
    duels: int  # games against the document's Combi


PRESETS = {
    "quick": Preset(4, 3, 1, 12, 8, 20, 40),
    "paper": Preset(4, 3, 1, 24, 10, 12, 100),
    "tiny": Preset(2, 2, 1, 4, 1, 2, 2),
}


def define_study(
    preset: str, name: str, start: str, ranges: Ranges, sampler: str, against: tuple[str, ...] = ()
) -> StudyDefinition:
    opponents = against or tuple(text for text in strategies(preset).values() if text != "basic")
    full_texts = tuple(make_agent(text).full_text() for text in opponents)
    agent = make_agent(start)
    inside = {key: min(max(getattr(agent, key), low), high) for key, (low, high) in ranges.items()}
    return StudyDefinition(
        name=f"brot-{name}-{preset}",
        game=game(preset, 2),
        agent=replace(agent, **inside).full_text(),
        parameters=tuple(f"{key}={low!r}..{high!r}" for key, (low, high) in ranges.items()),
        sampler=sampler,
        noise=f"fixed(games={PRESETS[preset].games})",
        against=full_texts[:1] if preset == "tiny" else full_texts,
    )


def search_grids(preset: str, store: Store, executor: Executor, console: Console) -> StudyRun:
    """Plays the rounds of the grid, each in half of the ranges of the previous one; returns the last study."""
    ranges = dict(RANGES)
    rounds, steps, *_ = PRESETS[preset]
    for place in range(1, rounds + 1):
        sampler = f"grid(steps={steps},population={steps ** len(RANGES)})"
        study = StudyRun(store, define_study(preset, f"grid{place}", combi_of_brot(preset), ranges, sampler))
        study.run(1, executor)
        found = study.course.space.decode(study.course.search.recommended())
        values = ", ".join(f"{key} {number(float(value), digits=4)}" for key, value in found.items())
        console.print(f"grid, round {place}: {values}")
        for key, (low, high) in ranges.items():
            quarter = (high - low) / 4
            middle = min(max(float(found[key]), RANGES[key][0] + quarter), RANGES[key][1] - quarter)
            ranges[key] = (round(middle - quarter, 6), round(middle + quarter, 6))
    return study


def search_with_half_the_games(preset: str, name: str, store: Store, executor: Executor) -> StudyRun:
    """Searches the same parameters with half as many games as the grid."""
    sampler = f"{name}(population={POPULATION})"
    study = StudyRun(store, define_study(preset, name, combi_of_brot(preset), RANGES, sampler))
    rounds, steps, *_ = PRESETS[preset]
    study.run(max(1, rounds * steps ** len(RANGES) // POPULATION // 2), executor)
    return study


def search_proposed(preset: str, store: Store, executor: Executor) -> StudyRun:
    """Searches the parameters that the document proposes but does not have."""
    chosen = PRESETS[preset]
    against = (strategies(preset)["Rollouts"], combi_of_brot(preset))
    sampler = f"cmaes(population={chosen.population})"
    study = StudyRun(store, define_study(preset, "wishes", combi(preset), PROPOSED, sampler, against))
    study.run(chosen.generations, executor)
    return study


@placed
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    store: StoreOption = DEFAULT_URL,
    where: Where = Where("ray"),
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    with Store.open(store) as results:
        with make_executor(where) as pool:
            studies = {
                "four grids": search_grids(preset, results, pool, console),
                "CMA-ES": search_with_half_the_games(preset, "cmaes", results, pool),
                "TPE": search_with_half_the_games(preset, "tpe", results, pool),
                "wishes": search_proposed(preset, results, pool),
            }
            finalists = {"Brot 2021": Finalist(make_agent(combi_of_brot(preset)), None, reference=True)}
            for label, study in studies.items():
                finalists[label] = Finalist(study.course.proposed(), study.course.search.estimate())
            last = studies["CMA-ES"]
            games = chosen.held_out * len(finalists) * last.course.objective.unit_games
            searched = sum(study.course.games for study in studies.values())
            verdict = compare_finalists(last, last.course.objective, finalists, games, searched, pool).verdict
        print_table(console, held_out_table(verdict, last.course.objective.name))
        for line in (verdict.sentence, verdict.agent):
            say(console, line, breaks=False)
    texts = {label: str(one.agent) for label, one in finalists.items()}
    pairs = [(label, "Brot 2021", texts["Brot 2021"]) for label in studies]
    pairs += [("wishes", label, text) for label, text in strategies(preset).items()]
    found = [
        Row(f"{label} against {other}", game(preset, 2), (texts[label], text), chosen.duels)
        for label, other, text in pairs
    ]
    experiment = Experiment("brot", f"tuned-{preset}", "Tuned Combi", TEXT + NOTE[preset], tuple(found), seed=2)
    play_and_print([experiment], store, where)


if __name__ == "__main__":
    run_script(main, __doc__)
