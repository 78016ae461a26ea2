"""How fast do n-tuple networks learn Yavalath? Weitz 2022, figures 12 to 15 and 20 to 24: TDN1 to TDN11, TCL1 to TCL3.

\b
Examples:
    python studies/weitz/learners.py                    a hundredth of the games, against a weaker MCTS
    python studies/weitz/learners.py --preset paper     TDN1 to TDN5 and TCL1 to TCL3 as in the thesis
    python studies/weitz/learners.py --preset long      TDN6 to TDN11: up to a million games
"""

from __future__ import annotations

from typing import NamedTuple

from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies


class Setting(NamedTuple):
    """A row of table 4 of the thesis, and the share of games won at the end, %, as its text states."""

    alpha: float
    alpha_end: float
    epsilon_end: float
    games: int
    tuples: int
    length: int = 7
    published: float | None = None
    trace: float = 0.0
    coherence: bool = False
    symmetric: bool = True


SETTINGS = {
    "TDN1": Setting(0.2, 0.2, 0.0, 100_000, 10, 6, 50.0),
    "TDN2": Setting(1.0, 0.2, 0.05, 150_000, 10, published=60.0),
    "TDN3": Setting(1.0, 0.2, 0.05, 150_000, 25, published=80.0),
    "TDN4": Setting(1.0, 0.2, 0.05, 150_000, 50, published=82.5),
    "TDN5": Setting(1.0, 0.2, 0.05, 150_000, 100, published=90.0),
    "TDN6": Setting(1.0, 0.2, 0.05, 300_000, 100, published=90.0),
    "TDN7": Setting(1.0, 0.2, 0.05, 1_000_000, 100, published=90.0),
    "TDN8": Setting(1.0, 0.2, 0.05, 300_000, 100, published=60.0, symmetric=False),
    "TDN9": Setting(1.0, 0.2, 0.05, 300_000, 100, trace=0.2),
    "TDN10": Setting(1.0, 0.2, 0.05, 300_000, 100, trace=0.7),
    "TDN11": Setting(1.0, 0.2, 0.05, 300_000, 100, trace=1.0),
    "TCL1": Setting(1.0, 0.2, 0.05, 300_000, 100, published=90.0, coherence=True),
    "TCL2": Setting(1.0, 0.585, 0.21666, 100_000, 100, published=90.0, coherence=True),
    "TCL3": Setting(1.0, 0.6, 0.1, 25_000, 200, published=80.0, coherence=True),
}
TRAININGS = 5  # of each setting, in the thesis and here
LONG = ("TDN6", "TDN7", "TDN8", "TDN9", "TDN10", "TDN11")
SHORT = tuple(name for name in SETTINGS if name not in LONG)


class Scale(NamedTuple):
    """The thesis's numbers, scaled for a preset."""

    names: tuple[str, ...]
    divisor: int  # of the thesis's games of training
    points: int  # of a curve
    games: int  # of a point
    iterations: int  # of the MCTS that evaluates


PRESETS = {
    "quick": Scale(SHORT, 100, 2, 20, 1000),
    "paper": Scale(SHORT, 1, 10, 50, 10_000),  # the thesis: 20 points, 5 agents of 10 games each
    "long": Scale(LONG, 1, 10, 50, 10_000),
    "tiny": Scale(("TDN1", "TDN8", "TDN11", "TCL3"), 2500, 2, 2, 50),
}
TEXT = """Games won by the greedy agent on a network, by games of training, against MCTS1 of the thesis (UCT,
{iterations:,} iterations), in both seats. Table 4 of the thesis gives the settings; epsilon begins at 0.3 and falls
linearly, alpha geometrically. TDN: temporal difference learning (TDN8 without symmetries, TDN9 to TDN11 with
eligibility traces, lambda 0.2, 0.7 and 1), TCL: with temporal coherence. The published figures at the ends are those
that the thesis states in words, means of five agents."""
ONCE = """\n\nAlpha is the thesis's, and an entry changes once per board, as in GBG, its framework, however many of the
twelve images look it up (`once=true`): on a nearly empty board they all look up the same entries, so that without it
alpha 1 moves values up to twelve times as far as the error. The experiments without "once" in their names were played
without it and with a twelfth of alpha, which on fuller boards is a twelfth of the step: then few games teach little.
Three trainings of TCL3 each, 60 games against MCTS1 per training: with the twelfth 20, 35 and 28 % won, with
`once=true` 80, 77 and 55 %."""
FIVE = f"""The mean over {TRAININGS} trainings that differ in their seeds, and its interval over the trainings: these
differ by far more than the games of one say.\n\n"""
NOTE = "\n\nThis preset trains with a {less:,}th of the games, so published figures are left out."


def learner(setting: Setting, scale: Scale, seed: int = 1) -> Learner:
    network = f"tuples={setting.tuples},length={setting.length},symmetric={str(setting.symmetric).lower()}"
    learning = (
        f"td(alpha={setting.alpha},alpha_end={setting.alpha_end},epsilon=0.3,epsilon_end={setting.epsilon_end},"
        f"trace={setting.trace},coherence={str(setting.coherence).lower()},once=true)"
    )
    games = setting.games // scale.divisor
    return Learner("yavalath", f"ntuple({network})", learning, games, scale.points, seed)


def curves(preset: str, opponent: str) -> list[LearnedRow]:
    """Returns the rows of one training of each setting, at each of its points."""
    scale, rows = PRESETS[preset], []
    for name in scale.names:
        learned = learner(SETTINGS[name], scale)
        for place in learned.places:
            row = Row(f"{name}, {place:,} games", "yavalath", (opponent,), scale.games, x=place, series=name)
            rows.append(LearnedRow(row, learned, place))
    return rows


def ends(preset: str, opponent: str) -> list[LearnedRow]:
    """Returns the rows of the ends of TRAININGS of each setting."""
    scale, rows = PRESETS[preset], []
    for name in scale.names:
        first, *further = (learner(SETTINGS[name], scale, seed) for seed in range(1, TRAININGS + 1))
        known = SETTINGS[name].published if scale.divisor == 1 else None
        row = Row(name, "yavalath", (opponent,), scale.games, published=known, published_games=TRAININGS)
        rows.append(LearnedRow(row, first, 0, tuple(further)))
    return rows


def build(preset: str) -> list[TrainingStudy]:
    scale = PRESETS[preset]
    opponent = f"mcts(iterations={scale.iterations})"
    less = NOTE.format(less=scale.divisor) if scale.divisor > 1 else ""
    text = TEXT.format(iterations=scale.iterations) + ONCE + less
    which = "TDN6 to TDN11" if preset == "long" else "figures 12, 13 and 22 to 24"
    title, together = f"Learning by games, entries change once ({which})", f"Means of {TRAININGS} trainings ({which})"
    return [
        TrainingStudy("weitz", f"learners-once-{preset}", title, text, curves(preset, opponent), axis="games trained"),
        TrainingStudy("weitz", f"learners-five-{preset}", together, FIVE + text, ends(preset, opponent)),
    ]


if __name__ == "__main__":
    run_training_studies(__doc__, build, PRESETS)
