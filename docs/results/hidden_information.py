"""Measures how much a perfect opponent wins against information set search, and draws it for hidden_information.md.

\b
Examples:
    python docs/results/hidden_information.py --measure       all series, about ten CPU minutes
    python docs/results/hidden_information.py                 only draws and prints data/hidden_information.csv
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
import typer

from turnier.agents.ismcts.agent import Ismcts
from turnier.core.number_text import plus_minus
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure, save
from turnier.games.game import Position
from turnier.games.open_spiel.game import OpenSpiel
from turnier.games.open_spiel.library import pyspiel
from turnier.studies.open_spiel.exploitability import Asked, Shares, answers, information_sets, measured, shares_of

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "hidden_information.csv"
LEDUC = "leduc_poker(suit_isomorphism=true)"


class Series(NamedTuple):
    game: str
    label: str
    agent: Ismcts | None  # None: OpenSpiel's bot
    questions: dict[int, int]  # iterations -> at every information set


KUHN_QUESTIONS = {10: 20, 30: 20, 100: 20, 300: 20, 1000: 20, 3000: 20}
LEDUC_QUESTIONS = {10: 6, 30: 6, 100: 6, 300: 6, 1000: 3}
AGENTS = {
    "played by visits, all observers": Ismcts(final="proportional"),
    "played by visits, one observer": Ismcts(final="proportional", observers="one"),
    "most visits, all observers": Ismcts(),
}
SERIES = [
    *(Series("kuhn_poker", label, agent, KUHN_QUESTIONS) for label, agent in AGENTS.items()),
    *(Series(LEDUC, label, agent, LEDUC_QUESTIONS) for label, agent in AGENTS.items()),
    *(Series(g, "OpenSpiel's ISMCTSBot", None, KUHN_QUESTIONS) for g in ("kuhn_poker", LEDUC)),
]


def bot_of_the_library(game: OpenSpiel, iterations: int) -> Asked:
    """Returns how to ask OpenSpiel's own search, with the exploration of ours; it plays by visits."""
    library, constant = pyspiel(), 2 * Ismcts().exploration * game.max_return

    def asked(position: Position, seed: int) -> Shares:
        bot = library.ISMCTSBot(1 + seed, library.RandomRolloutEvaluator(1, 1 + seed), constant, iterations)
        shares = np.zeros(game.num_actions)
        for action, share in bot.get_policy(game.live_state(position.state)):
            shares[action] = share
        return shares

    return asked


def rows_of(series: Series) -> list[dict[str, object]]:
    game, found = OpenSpiel(series.game), list[dict[str, object]]()
    sets = information_sets(game)
    for iterations, questions in series.questions.items():
        agent = series.agent
        asked = shares_of(agent.replace(iterations=iterations)) if agent else bot_of_the_library(game, iterations)
        value, low, high = measured(game, sets, [answers(asked, sets, seed) for seed in range(questions)])
        row = {"game": series.game, "agent": series.label, "iterations": iterations, "questions": questions}
        found.append(row | {"exploitability": value, "low": low, "high": high})
        print(found[-1], flush=True)
    return found


def main(
    measure: Annotated[bool, typer.Option(help="play; without it, the data are only drawn")] = False,
    only: Annotated[str, typer.Option(help="series whose game and label contain this")] = "",
    data: Annotated[Path, typer.Option(help="where the measured figures are")] = DATA,
) -> None:
    if measure:
        chosen = [each for each in SERIES if only in f"{each.game} {each.label}"]
        found = pd.DataFrame([row for series in chosen for row in rows_of(series)])
        found.to_csv(data, index=False, float_format="%.5g")
        return
    frame = pd.read_csv(data)
    titles, figures = ("iterations per move", "exploitability, points a game"), []
    for game, part in frame.groupby("game", sort=False):
        chart = charts.lines(part, "iterations", "exploitability", "low", "high", "agent", titles, log=True)
        figures.append(Figure(str(game).partition("(")[0], chart, part, "95 % intervals; 0 is an equilibrium."))
    save(HERE / "hidden_information.png", *figures)
    for (game, agent), part in frame.groupby(["game", "agent"], sort=False):
        cells = [plus_minus(r.exploitability, (r.high - r.low) / 2) for r in part.itertuples()]
        print(f"| {game} | {agent} | {' | '.join(cells)} |")


if __name__ == "__main__":
    typer.run(main)
