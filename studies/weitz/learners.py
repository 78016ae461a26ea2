"""How fast do n-tuple networks learn Yavalath? Weitz 2022, figures 12 to 15 and 20 to 24: TDN1 to TDN11, TCL1 to TCL3.

\b
Examples:
    python studies/weitz/learners.py                    a hundredth of the games, against a weaker MCTS
    python studies/weitz/learners.py --preset paper     TDN1 to TDN5, TCL2 and TCL3 as in the thesis
    python studies/weitz/learners.py --preset long      the others: 300,000 to 1,000,000 games
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from turnier.runs.experiments.published import CHANGED
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies
from turnier.studies.weitz import table1
from turnier.studies.weitz.statements import STATEMENTS


class Setting(NamedTuple):
    """A row of table 4 of the thesis, and the shares of games won, %, that its text states, by games of training."""

    alpha: float
    alpha_end: float
    epsilon_end: float
    games: int
    tuples: int
    published: Mapping[int, float]
    length: int = 7
    trace: float = 0.0
    horizon: int = 64  # GBG drops traces below 0.1
    coherence: bool = False
    symmetric: bool = True
    trained: int = 5  # trainings behind the published figures
    trainings: int = 5  # ours in the paper preset: 5, 10, 20 or 40, by the looks at its statements so far


YAVALATH = "yavalath"
SETTINGS = {
    "TDN1": Setting(0.2, 0.2, 0.0, 100_000, 10, {100_000: 50.0}, 6),
    "TDN2": Setting(1.0, 0.2, 0.05, 150_000, 10, {150_000: 60.0}, trainings=10),
    "TDN3": Setting(1.0, 0.2, 0.05, 150_000, 25, {150_000: 80.0}, trainings=10),
    "TDN4": Setting(1.0, 0.2, 0.05, 150_000, 50, {150_000: 82.5}, trainings=10),
    "TDN5": Setting(1.0, 0.2, 0.05, 150_000, 100, {90_000: 80.0, 150_000: 90.0}, trainings=10),
    "TDN6": Setting(1.0, 0.2, 0.05, 300_000, 100, {90_000: 80.0, 300_000: 90.0}),
    "TDN7": Setting(1.0, 0.2, 0.05, 1_000_000, 100, {500_000: 80.0, 1_000_000: 90.0}, trained=3),
    "TDN8": Setting(1.0, 0.2, 0.05, 300_000, 100, {300_000: 60.0}, symmetric=False),
    "TDN9": Setting(1.0, 0.2, 0.05, 300_000, 100, {}, trace=0.2, horizon=2),
    "TDN10": Setting(1.0, 0.2, 0.05, 300_000, 100, {}, trace=0.7, horizon=7),
    "TDN11": Setting(1.0, 0.2, 0.05, 300_000, 100, {}, trace=1.0),
    "TCL1": Setting(1.0, 0.2, 0.05, 300_000, 100, {90_000: 90.0, 300_000: 90.0}, coherence=True),
    "TCL2": Setting(1.0, 0.585, 0.21666, 100_000, 100, {40_000: 90.0, 100_000: 90.0}, coherence=True, trainings=10),
    "TCL3": Setting(1.0, 0.6, 0.1, 25_000, 200, {20_000: 80.0, 25_000: 80.0}, coherence=True, trained=25, trainings=20),
}
LUDII = {"TDN7": ("figure 18", 84.5), "TCL3": ("figure 25", 78.5)}  # games won against Ludii, %, in 200
PLAYED = ("TCL3", "TDN5", "TDN7")  # also against stronger opponents
UNSQUEEZED = ("TDN6", "TDN7", "TDN8", "TDN9", "TDN10", "TDN11")  # also measured without tanh
VARIANTS = ("TDN8", "TDN9", "TDN10", "TDN11", "TCL1")  # of TDN6, with something else
LONG = ("TDN6", "TDN7", *VARIANTS)
SHORT = tuple(name for name in SETTINGS if name not in LONG)


class Scale(NamedTuple):
    """The thesis's numbers, scaled for a preset."""

    names: tuple[str, ...]
    divisor: int  # of the thesis's games of training
    points: int  # of a curve
    games: int  # of a training at a point
    more_games: int  # at the end, at published points, and at those that statements are about
    iterations: int  # of the MCTS that evaluates
    trainings: int = 0  # of each setting, 0 = the setting's own


PRESETS = {
    "quick": Scale(SHORT, 100, 2, 10, 10, 1000, trainings=5),
    "paper": Scale(SHORT, 1, 10, 10, 50, 10_000),  # the thesis: 20 points of 10 games for each training
    "long": Scale(LONG, 1, 10, 10, 50, 10_000),
    "tiny": Scale(("TDN1", "TDN8", "TDN11", "TCL3"), 2500, 2, 2, 2, 50, trainings=2),
}
TEXT = """Games won by the greedy agent on a network, by games of training, against MCTS1 of the thesis (UCT,
{iterations:,} iterations), in both seats: means over trainings ({trainings}), each with tuples and seed of its own, and
intervals over the trainings, which differ by far more than the games of one say. Table 4 of the thesis gives the
settings; epsilon begins at 0.3 and falls linearly, alpha geometrically. TDN: temporal difference learning (TDN8 without
symmetries, TDN9 to TDN11 with eligibility traces, lambda 0.2, 0.7 and 1), TCL: with temporal coherence. What table 4
leaves open is the default of GBG, its framework: values squeezed by tanh, exponential coherence with a beta of 2.7, an
entry that changes once per board however many of the twelve images look it up, traces cut below 0.1. The published
figures are those that the thesis states in words."""
AGAINST = """The greedy agents of the trainings ({trainings}), in both seats, against the stand-in for Ludii's search
(UCT with {stand_in:,} iterations, see table 1), and against the strongest search here without learning: MCTS with
{iterations:,} iterations, a solver and threat sequences."""
PLAIN = """As in the experiment before, but without tanh, with longer traces, and with the same tuples in all trainings
of a setting."""
NOTE = "\n\nThis preset trains with a {less:,}th of the games, so published figures are left out."


def learner(setting: Setting, scale: Scale, seed: int = 1) -> Learner:
    """Returns the learner of a setting; the seed is that of its tuples, too, as GBG draws new ones."""
    symmetric = str(setting.symmetric).lower()
    network = f"tuples={setting.tuples},length={setting.length},symmetric={symmetric},seed={seed}"
    learning = (
        f"alpha={setting.alpha},alpha_end={setting.alpha_end},epsilon=0.3,epsilon_end={setting.epsilon_end},"
        f"trace={setting.trace},horizon={setting.horizon},once=true,tanh=true,"
        + ("beta=2.7" if setting.coherence else "coherence=false")
    )
    games = setting.games // scale.divisor
    return Learner(YAVALATH, f"ntuple({network})", f"td({learning})", games, scale.points, seed)


def trainings(name: str, scale: Scale) -> list[Learner]:
    """Returns the learners of a setting that differ in their seeds."""
    count = scale.trainings or SETTINGS[name].trainings
    return [learner(SETTINGS[name], scale, seed) for seed in range(1, count + 1)]


def counted(names: Iterable[str], scale: Scale) -> str:
    """Returns the numbers of trainings, such as `5 of TDN1; 40 of TCL3`."""
    of_count: dict[int, list[str]] = {}
    for name in names:
        of_count.setdefault(len(trainings(name, scale)), []).append(name)
    return "; ".join(f"{count} of {', '.join(group)}" for count, group in of_count.items())


def curve(name: str, scale: Scale, opponent: str) -> list[LearnedRow]:
    """Returns the rows of a setting at each of its points."""
    (first, *further), setting, rows = trainings(name, scale), SETTINGS[name], []
    stated = {label for statement in STATEMENTS for label in statement.rows}
    for place in first.places:
        label, known = f"{name}, {place:,} games", setting.published.get(place) if scale.divisor == 1 else None
        row = Row(
            label,
            YAVALATH,
            (opponent,),
            scale.more_games if known is not None or label in stated or place == first.games else scale.games,
            published=known,
            published_games=0 if known is None else setting.trained,
            x=place,
            series=name,
        )
        rows.append(LearnedRow(row, first, place, tuple(further)))
    return rows


def stronger(name: str, scale: Scale) -> list[LearnedRow]:
    """Returns the rows of a setting's networks at the end of training, against stronger opponents."""
    first, *further = trainings(name, scale)
    less = 10_000 // scale.iterations
    figure, published = LUDII.get(name, ("", None))
    known = published if scale.divisor == 1 else None
    stand_in = Row(
        f"{name} against the stand-in for Ludii" + (f" ({figure})" if figure else ""),
        YAVALATH,
        (f"mcts(iterations={table1.STAND_IN // less},tree_depth=61)",),
        max(1, 4 * scale.more_games // 5),
        published=known,
        published_games=0 if known is None else 1,
        setting="" if known is None else CHANGED,
        reason="" if known is None else table1.REASON,
    )
    searching = Row(
        f"{name} against MCTS with solver and threats",
        YAVALATH,
        (f"mcts(iterations={scale.iterations},solver=true,forced_depth=8)",),
        max(1, 2 * scale.more_games // 5),
    )
    return [LearnedRow(row, first, 0, tuple(further)) for row in (stand_in, searching)]


def plain(name: str, scale: Scale, opponent: str) -> LearnedRow:
    """Returns the row of five networks of a setting at the end of training without tanh, all with the same tuples."""
    setting = SETTINGS[name]
    network = f"tuples={setting.tuples},length={setting.length},symmetric={str(setting.symmetric).lower()}"
    learning = (
        f"alpha={setting.alpha},alpha_end={setting.alpha_end},epsilon=0.3,epsilon_end={setting.epsilon_end},"
        f"trace={setting.trace},coherence={str(setting.coherence).lower()},once=true"
    )
    first, *further = (
        Learner(YAVALATH, f"ntuple({network})", f"td({learning})", setting.games, scale.points, seed)
        for seed in range(1, 6)
    )
    known = setting.published.get(setting.games)
    row = Row(
        name,
        YAVALATH,
        (opponent,),
        scale.more_games,
        published=known,
        published_games=0 if known is None else setting.trained,
        setting="" if known is None else CHANGED,
        reason="" if known is None else "values not squeezed by tanh",
    )
    return LearnedRow(row, first, 0, tuple(further))


def build(preset: str) -> list[TrainingStudy]:
    scale = PRESETS[preset]
    opponent = f"mcts(iterations={scale.iterations})"
    less = NOTE.format(less=scale.divisor) if scale.divisor > 1 else ""
    long = preset == "long"
    parts = {
        "learning": ("figures 14 and 15" if long else "figures 12, 13, 23 and 24", set(scale.names) - {*VARIANTS}),
        "variants": ("figures 20 to 22", set(scale.names) & {*VARIANTS}),
    }
    found = []
    for part, (figures, names) in parts.items():
        rows = [row for name in scale.names if name in names for row in curve(name, scale, opponent)]
        count = counted([name for name in scale.names if name in names], scale)
        text = TEXT.format(iterations=scale.iterations, trainings=count) + less
        title = f"Learning by games ({figures})"
        found += [TrainingStudy("weitz", f"{part}-{preset}", title, text, rows, "games trained")] if rows else []
    played = [name for name in scale.names if name in PLAYED]
    rows = [row for name in played for row in stronger(name, scale)]
    against = (
        AGAINST.format(trainings=counted(played, scale), stand_in=table1.STAND_IN, iterations=scale.iterations) + less
    )
    title = "Learners against stronger opponents (figures 18 and 25)"
    found.append(TrainingStudy("weitz", f"stronger-{preset}", title, against, rows))
    if long:
        ends = [plain(name, scale, opponent) for name in UNSQUEEZED]
        found.append(TrainingStudy("weitz", "learners-five-long", "Means of 5 trainings without tanh", PLAIN, ends))
    return found


if __name__ == "__main__":
    run_training_studies(__doc__, build, PRESETS)
