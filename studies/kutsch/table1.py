"""Does UCTN prefer better actions, and UCT not? Kutsch 2017, table 1.

\b
Examples:
    python studies/kutsch/table1.py                    scaled down, about a minute at most
    python studies/kutsch/table1.py --preset paper     20 positions with four actions for each number of empty cells
"""

from __future__ import annotations

from settings import NOTE, STATES, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

RANKS = ("best", "second", "third", "worst")
VISITS = {"UCTN": (1763, 941, 730, 566), "UCT": (1000, 1000, 1000, 1000)}  # of the actions by their mean values
TEXT = """How a search spreads its 3,500 iterations over the four actions of a position, the action with the best mean
value first. The thesis prints one position (its visits sum up to 4,000); here are the means over many, so the shares
depend on how different the actions are. UCT is played with its usual K of 1.414, as in the table."""


def build(preset: str) -> list[Experiment]:
    states, _, games = STATES[preset]
    agents = {"UCTN": mctse(preset), "UCT": mctse(preset, more=",selection=uct")}
    rows = [
        Row(
            f"{selection}, {rank} action",
            "2048",
            (agent,),
            games,
            f"visits_{place}",
            published(preset, 100 * visits / sum(VISITS[selection])),
            states=states,
            repeats=2,
            legal=4,
        )
        for selection, agent in agents.items()
        for place, (rank, visits) in enumerate(zip(RANKS, VISITS[selection], strict=True), start=1)
    ]
    title = "Visits by UCT and UCTN (table 1)"
    return [Experiment("kutsch", f"table1-{preset}", title, TEXT + NOTE[preset], tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, STATES)
