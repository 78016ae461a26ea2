"""Which strategy for spe_ed is best? Each against Combi, with two and with six players.

\b
Examples:
    python studies/brot/strategies.py                    small agents on small boards, 20 games per row
    python studies/brot/strategies.py --preset paper     100 games per row, 30 with six players
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import BEATEN, CHANGED
from turnier.runs.experiments.row import Row
from turnier.studies.brot.constants import NOTE, SIZES, combi, combi_of_brot, game, strategies
from turnier.studies.scripts.experiments import run_experiments

# Brot 2021, 6: approximate, of 100 games each; the others are only ordered.
PUBLISHED, PUBLISHED_GAMES = {"Minimax": 88.0, "Probability tables": 88.0}, 100
TWO = """The share of games that Combi wins against each strategy, in both seats; draws count as not won. Published are
100 games each: Minimax and the tables win about 12 %, the rollouts are the best of the rest, Basic is the worst. `Brot
2021` is Combi with the document's constants, `Combi` with ours, which let minimax count territory."""
SIX = """The share of games that the first strategy wins among five of the other, in all seats; one in six,
16.7 %, is what equals win, less the games that nobody wins."""


def build(preset: str) -> list[Experiment]:
    ours, theirs, games = combi(preset), combi_of_brot(preset), SIZES[preset][4]
    published = PUBLISHED if preset == "paper" else {}  # smaller agents on smaller boards cannot be compared
    duels = [
        Row(
            f"{name} against {label}",
            game(preset, 2),
            (one, agent),
            games,
            "win_rate",
            published.get(label),
            published_games=PUBLISHED_GAMES if label in published else 0,
            setting=setting if label in published else "",
            reason=reason if label in published else "",
        )
        for name, one, setting, reason in (
            ("Combi", ours, BEATEN, ""),
            ("Brot 2021", theirs, CHANGED, "counts in place of a second for each move"),
        )
        for label, agent in strategies(preset).items()
    ]
    duels.append(Row("Combi against Brot 2021", game(preset, 2), (ours, theirs), games))
    among, players = [], 3 if preset == "tiny" else 6
    games = max(1, games * 3 // 10)  # six seats take longer and yield more
    for label, agent in (strategies(preset) | {"Brot 2021": theirs}).items():
        others = players - 1
        among.append(Row(f"Combi among {others} {label}", game(preset, players), (ours, *(agent,) * others), games))
        among.append(Row(f"{label} among {others} Combi", game(preset, players), (agent, *(ours,) * others), games))
    return [
        Experiment("brot", f"duels-{preset}", "Combi against strategies", TWO + NOTE[preset], tuple(duels)),
        Experiment("brot", f"six-{preset}", "One among six", SIX + NOTE[preset], tuple(among)),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, SIZES)
