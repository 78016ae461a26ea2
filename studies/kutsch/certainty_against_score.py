"""Does certainty mean strength? Certainty against score for 36 agents that use the same time per move at 2048.

\b
Kutsch 2017 measures how certain its agents are (9.1) and how strong (3.3, 4.2, 5.2), a few of each. The agents here are
variants of MC, MCTS and MCTSE whose iterations are chosen so that all of them take the same CPU time per move.

\b
Examples:
    python studies/kutsch/certainty_against_score.py                    a few minutes on two cores
    python studies/kutsch/certainty_against_score.py --preset paper     five times the time per move, more games

After Ctrl-C or the loss of the machine, repeat the command to resume. The iterations are measured once and stored: the
same command with another store may choose others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
import typer
from scipy import stats

from turnier.agents.registry import label_of, make_agent
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_match
from turnier.arena.positions import COLLECTOR, choose_positions, collector_matches, search_specs
from turnier.arena.repeated_search import SeenPosition
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.options import DEFAULT_URL, PictureOption, SeedOption, StoreOption
from turnier.commands.place import placed
from turnier.commands.tables import agent_table
from turnier.core.number_text import half_width_text, number
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.charts import lines
from turnier.dashboards.figures.figure import Figure, save
from turnier.results.frames.certainty import agent_certainty, position_certainty, searches_of_runs
from turnier.results.frames.matches import matches_frame, summary
from turnier.results.store.store import Store
from turnier.runs.bar import game_bar, run_bar
from turnier.runs.play import play_into, search_into
from turnier.studies.scripts.script import choose_preset, run_script

GAME = "2048(size=4)"
MC = [
    f"mc(iterations={{}},rollout_depth={depth},score_method={method})"
    for depth in (2, 5, 10, 20, 50, 200)
    for method in (1, 2)
]
MCTS = [
    f"mcts(iterations={{}},tree_depth={tree},rollout_depth={depth},normalise={scaled},score_method=1)"
    for tree in (1, 3, 10)
    for depth in (20, 150)
    for scaled in ("true", "false")
]
MCTSE = [
    f"mctse(iterations={{}},rollout_depth={depth},{selection})"
    for depth in (5, 20, 50, 150)
    for selection in ("exploration=1.4142135623730951", "exploration=0.3", "selection=uct,exploration=0.0566")
]
FAMILIES = {"MC": MC, "MCTS": MCTS, "MCTSE": MCTSE}
PILOT_ITERATIONS, PILOT_GAMES = 30, 3
RESAMPLES = 2_000


class Preset(NamedTuple):
    milliseconds: float  # CPU time per move
    games: int  # of each agent, all on the same seeds
    states: int  # positions per group, see `turnier certainty`
    repeats: int
    variants: int  # of each family


PRESETS = {
    "quick": Preset(0.1, 12, 4, 6, 12),
    "paper": Preset(0.5, 24, 8, 10, 12),
    "tiny": Preset(0.005, 2, 2, 3, 2),  # for tests
}


@placed
def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    seed: SeedOption = 1,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where("ray"),
    picture: PictureOption = Path("reports"),
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    name = f"certainty_against_score-{preset}"
    run = f"experiment:{name}-{seed}"
    with Store.open(store) as results, make_executor(where) as pool:
        families = planned(results, run, name, chosen, seed)
        play(results, run, list(families), chosen, seed, pool)
        found = measured(results, run, families, chosen_positions(results, chosen, seed))
    print_agents(console, found, chosen)
    for family, part in {"all agents": found, **dict(list(found.groupby("family")))}.items():
        rho, low, high = rank_correlation(part, seed)
        console.print(f"Spearman's rank correlation, {family} ({len(part)}): {rho:.2f} ({low:.2f} to {high:.2f})")
    path = picture / f"{name}.png"
    save(path, figure_of(found, chosen))
    found.round(4).to_csv(path.with_suffix(".csv"), index=False)
    console.print(f"Picture: {path}; figures: {path.with_suffix('.csv')}", soft_wrap=True)


def planned(store: Store, run: str, name: str, preset: Preset, seed: int) -> dict[str, str]:
    """Returns the family of each agent by its text: those of the stored run, otherwise new ones of equal time."""
    stored = next((known.definition for known in store.runs() if known.id == run), None)
    if stored is None:
        patterns = {p: family for family, variants in FAMILIES.items() for p in variants[:: 12 // preset.variants]}
        families = {}
        with game_bar("choosing iterations", len(patterns), unit="agents") as bar:
            for pattern, family in patterns.items():
                iterations = iterations_within(pattern, preset.milliseconds, seed)
                families[make_agent(pattern.format(iterations)).full_text()] = family
                bar.advance(1)
        stored = {"game": GAME, "families": families, "preset": list(preset), "seed": seed}
        store.begin_run(run, "experiment", name, stored)
    return dict(stored["families"])


def iterations_within(pattern: str, milliseconds: float, seed: int) -> int:
    """Returns the iterations with which an agent takes that CPU time per move: each game corrects the number."""
    iterations = PILOT_ITERATIONS
    for game in range(PILOT_GAMES):
        agent = make_agent(pattern.format(iterations)).full_text()
        record = play_match(MatchSpec(GAME, (agent,), derive_seed(seed, "pilot", game)))
        seconds = (record.seat_cpu_seconds or record.seat_seconds)[0] / record.decisions[0]
        iterations = max(1, round(iterations * milliseconds / (1000 * seconds)))
    return iterations


def play(store: Store, run: str, agents: list[str], preset: Preset, seed: int, executor: Executor) -> None:
    """Plays the games and searches the positions that are missing in the store."""
    seeds = [derive_seed(seed, "certainty against score", i) for i in range(preset.games)]
    # Games on the same seed are neighbours, so a run stopped early still compares the agents.
    specs = [MatchSpec(GAME, (agent,), match_seed) for match_seed in seeds for agent in agents]
    collecting = collector_matches(GAME, COLLECTOR, preset.games, seed)
    with run_bar(store, run, "certainty against score", len(specs) + len(collecting)) as bar:
        for batch in play_into(store, run, specs, executor, bar.skip):
            bar.advance(len(batch))
        for batch in play_into(store, run, collecting, executor):
            bar.advance(len(batch))
        positions = chosen_positions(store, preset, seed)
        searches = [spec for agent in agents for spec in search_specs(positions, agent, preset.repeats, seed)]
        bar.expect(len(searches), "searches")
        for done in search_into(store, run, searches, executor):
            bar.advance(len(done))


def chosen_positions(store: Store, preset: Preset, seed: int) -> list[SeenPosition]:
    """Returns the positions for all agents, from stored games."""
    collected = store.records([spec.id for spec in collector_matches(GAME, COLLECTOR, preset.games, seed)])
    return [position for group in choose_positions(collected, preset.states, seed).values() for position in group]


def measured(store: Store, run: str, families: dict[str, str], positions: list[SeenPosition]) -> pd.DataFrame:
    """Returns a row for each agent, the strongest first: score and agreement with their 95 % intervals, CPU time."""
    scores = summary(matches_frame(store, run=run)).set_index("agent")
    sources = {position.id: position.source for position in positions}
    certainty = agent_certainty(position_certainty(searches_of_runs(store, [run], sources))).set_index("agent")
    rows = []
    for agent, family in families.items():
        score, certain = scores.loc[agent], certainty.loc[agent]
        rows.append(
            {
                "family": family,
                "agent": label_of(agent),
                "cpu_ms_per_move": 1000 * score["cpu_seconds_per_decision"],
                "games": score["games"],
                "score": score["mean"],
                "score_half_width": score["half_width"],
                "positions": certain["states"],
                "searches": certain["searches"],
                **{f"agreement_percent{end}": 100 * certain[f"agreement{end}"] for end in ("", "_low", "_high")},
            }
        )
    return pd.DataFrame(rows).sort_values("score", ascending=False, ignore_index=True)


def rank_correlation(found: pd.DataFrame, seed: int) -> tuple[float, float, float]:
    """Returns Spearman's correlation of agreement and score, with its 95 % interval by resampling the agents."""
    certain, scores = found["agreement_percent"].to_numpy(), found["score"].to_numpy()
    random = np.random.default_rng(derive_seed(seed, "resamples"))
    drawn = [random.integers(0, len(found), len(found)) for _ in range(RESAMPLES)]
    resampled = [stats.spearmanr(certain[i], scores[i]).statistic for i in drawn if len(set(i.tolist())) > 1]
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return float(stats.spearmanr(certain, scores).statistic), float(low), float(high)


def print_agents(console: Console, found: pd.DataFrame, preset: Preset) -> None:
    title = (
        f"{preset.milliseconds:g} ms per move were requested; {found['games'].max():,} games and"
        f" {found['positions'].max():,} positions of each agent"
    )
    table = agent_table(title, "ms per move", "mean score", "± 95 %", "agreement, %", "± 95 %", numbered=True)
    for place, row in enumerate(found.to_dict("records"), 1):
        half = (row["agreement_percent_high"] - row["agreement_percent_low"]) / 2
        score = number(row["score"], row["score_half_width"]), half_width_text(row["score_half_width"])
        certain = number(row["agreement_percent"], half), half_width_text(half)
        table.add_row(str(place), row["agent"], number(row["cpu_ms_per_move"]), *score, *certain)
    console.print(table)


def figure_of(found: pd.DataFrame, preset: Preset) -> Figure:
    data = found.assign(low=found["score"] - found["score_half_width"], high=found["score"] + found["score_half_width"])
    across = ("agreement_percent_low", "agreement_percent_high")
    titles = ("agreement of searches, %", "mean score")
    chart = lines(data, "agreement_percent", "score", "low", "high", "family", titles, connected=False, across=across)
    title = f"Certainty against score of {len(found)} agents at {preset.milliseconds:g} ms per move"
    return Figure(title, chart, data, f"95 % intervals; {found['games'].max():,} games of each agent.")


if __name__ == "__main__":
    run_script(main, __doc__)
