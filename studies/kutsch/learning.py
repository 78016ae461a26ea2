"""How does a network learn 2048, with both target methods and with each setting? Kutsch 2017, figures 17 and 25 to 29.

\b
Examples:
    python studies/kutsch/learning.py                     a thousand games of training per learner
    python studies/kutsch/learning.py --only methods      figures 17 and 29: the curves of both methods
    python studies/kutsch/learning.py --only epsilon      figure 25; also alpha, gamma and lambda: 26 to 28
    python studies/kutsch/learning.py --only networks     what tuples, and how many
    python studies/kutsch/learning.py --only larger       what exceeds the thesis's best network
    python studies/kutsch/learning.py --preset paper      100,000 games, 5 trainings or more for each point
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from turnier.runs.experiments.published import BEATEN, CHANGED
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.kutsch.thesis import DOCUMENT
from turnier.studies.scripts.trained_experiments import run_training_studies

# Kutsch 2017, 6.1: 20 tuples of three cells by random walk, 100,000 games, epsilon from 0.65 to 0, gamma 1.
TRAINED = {"quick": 1000, "paper": 100_000, "tiny": 100}
ONE = "the games of one training"
MANY = "{count} trainings, each with tuples and seed of its own, with its interval over them"
GAMES = {"quick": 20, "paper": 200, "tiny": 2}  # per row and training
CURVE_GAMES = {"quick": 20, "paper": 40, "tiny": 2}  # of the points of a curve
FEW = {"quick": 1, "paper": 5, "tiny": 1}  # trainings of a setting, at the first look
SYMMETRIES = 8
REACH = 64  # maximum number of boards that an error changes, the `horizon` of td
NOTE = {
    "quick": "\n\nThis is the quick preset: a hundredth of the thesis's games, after which little is learned yet."
    " The paper preset trains as long as the thesis.",
    "paper": "",
    "tiny": "\n\nThis is the preset of the tests: its figures say nothing.",
}
SETTINGS = """Networks have 20 tuples of three cells by random walk and learn with epsilon from {epsilon} to 0. Alpha is
given as in the thesis, which is understood as the step of every entry that is looked up: for the whole board it is 160
times as large (20 tuples, 8 symmetries). The thesis lets epsilon fall by a logarithm that is not printed, ours falls
linearly. All moves are learned from, random ones too: see figure 17. What is measured is the greedy agent on the
network, without random moves: the mean over {trainings}."""
# series -> settings; the last two do not learn from random moves, as is usual
CURVES: dict[str, dict[str, Any]] = {
    **{f"method {m}, lambda 1": {"method": m, "trace": 1, "alpha": 0.001 / REACH} for m in (1, 2)},
    **{f"method {m}, lambda 0": {"method": m} for m in (1, 2)},
    **{f"greedy moves only, alpha {alpha:f}": {"alpha": alpha, "from_random": False} for alpha in (0.00002, 0.0001)},
}
# label -> type of the tuples, their number and length
NETWORKS = {
    "random walk, 20 tuples of 3": ("walk", 20, 3),
    "random points, 20 tuples of 3": ("points", 20, 3),
    "random walk, 20 tuples of 4": ("walk", 20, 4),
    "random walk, 10 tuples of 3": ("walk", 10, 3),
    "random walk, 40 tuples of 3": ("walk", 40, 3),
}
# Trainings in the paper preset: 5, 10, 20 or 40, by the looks at the statement about these so far
OF_OPEN = {"random walk, 20 tuples of 3": 20, "random walk, 40 tuples of 3": 20}
OF_NETWORKS = """The mean score after training, by network. The thesis (6.2) finds random walks clearly better than
random points after a few quick tests, three cells slightly better than four, and that more than about 20 tuples hardly
help; it prints no figures. A tuple of points has any cells of the board, one of a walk has neighbours. In place of 20
tuples of three cells, networks here have those named."""
METHODS = """The mean score by games trained. Method 1: the target is the score when the game is over; method 2: each
move's reward and the next value. The thesis's settings have lambda 1. With 1,000,000 games it reaches about 29,900
points, near 33,000 at the best, and falls to about 1,040, those of a random agent, at the end of training, which it
takes for a bug. It finds method 1 much better than method 2 in 6.2 and the other way round in 6.3. With lambda 1 and
the thesis's alpha method 1 diverges (see figure 28), so here both have a 64th of it, as an error counts for 64 boards.

Where random moves are played, but not learned from, learning diverges, even with a small alpha (the last two lines,
method 1 and lambda 0): the weights grow without bounds, and the score goes on rising as long as their order is right.
Here they end as NaN, and the first legal action is played; a program whose values are bounded would find all
moves equal and play at random, as the thesis's agent did in the end. That this is what happened there is a guess; its
program is not known."""


class Sweep(NamedTuple):
    """A figure of one parameter."""

    parameter: str  # here
    name: str  # in the thesis
    values: tuple[float, ...]
    found: str  # by the thesis
    trainings: int  # of each value in the paper preset: 5, 10, 20 or 40, by the looks at its statement so far


SWEEPS = {
    25: Sweep("epsilon", "epsilon", (0.0, 0.1, 0.25, 0.45, 0.65, 0.85, 1.0), "about 0.65 is best", 10),
    26: Sweep("alpha", "alpha", (0.0001, 0.0003, 0.001, 0.003, 0.006), "about 0.001 is best", 10),
    27: Sweep("gamma", "gamma", (0.9, 0.99, 0.995, 0.999, 1.0), "1 is best", 5),
    28: Sweep("trace", "lambda", (0.0, 0.25, 0.5, 0.75, 1.0), "1 is best", 5),
}
LEARNED_SCORE = 29_900.0  # after 1,000,000 games
LARGER = """The thesis's best network, 20 tuples of three cells, has about 29,900 points after 1,000,000 games. Four
tuples of six cells, learned with temporal coherence, are above that after 10,000 games, a minute of one core."""
AT_LENGTH = """The thesis's best network, 20 tuples of three cells, has about 29,900 points after 1,000,000 games, by
method 1 with lambda 1. Here it is trained for ten times the games of figures 25 to 28, but with lambda 0, since with 1
learning diverges: the mean over {trainings}."""
TRACES = """ With a lambda above 0 an error counts for the last 64 boards; each learns once, when all errors that count
for it are known."""
OF_LAMBDA = """ Successive boards share most of their entries, which the errors of up to 64 boards then move in one
direction: with lambda 1 learning diverges, the weights become NaN, and the first legal move is played. So
the second line shares alpha out among the boards that an error counts for."""
OWN, SHARED = "alpha for each board", "alpha shared out"


def learner(
    preset: str,
    alpha: float = 0.001,
    epsilon: float = 0.65,
    gamma: float = 1.0,
    trace: float = 0.0,
    method: int = 1,
    points: int = 1,
    from_random: bool = True,
    seed: int = 1,
    network: tuple[str, int, int] = NETWORKS["random walk, 20 tuples of 3"],
) -> Learner:
    """Returns a learner of the thesis; alpha as in the thesis."""
    kind, tuples, length = network
    step = alpha * tuples * SYMMETRIES
    exploration = f"coherence=false,epsilon={epsilon},epsilon_end=0,method={method},horizon={REACH}"
    learning = (
        f"td(alpha={step:.6g},{exploration},discount={gamma},trace={trace},from_random={str(from_random).lower()}"
        f"{',delayed=true' * (trace > 0)})"
    )
    drawn = f"ntuple({'' if kind == 'walk' else f'network={kind},'}tuples={tuples},length={length},seed={seed})"
    return Learner("2048", drawn, learning, TRAINED[preset], points, seed)


def trained(preset: str, count: int, **setting: Any) -> list[Learner]:
    """Returns learners that differ in their seeds."""
    return [learner(preset, **setting, seed=seed) for seed in range(1, count + 1)]


def measured(count: int) -> str:
    return ONE if count == 1 else MANY.format(count=count)


def row(
    games: int, label: str, learned: list[Learner], x: float | None = None, series: str = "", place: int = 0
) -> LearnedRow:
    """Returns a row with the greedy agents on the networks after `place` games, 0 = at the end."""
    first, *further = learned
    return LearnedRow(Row(label, "2048", (), games, "score", x=x, series=series), first, place, tuple(further))


def methods(preset: str) -> TrainingStudy:
    """The curves of figures 17 and 29."""
    rows, count, games = [], FEW[preset], CURVE_GAMES[preset]
    for series, settings in CURVES.items():
        learned = trained(preset, count, points=10 if preset == "paper" else 2, **settings)
        rows += [row(games, f"{series}, {place:,} games", learned, place, series, place) for place in learned[0].places]
    settings_text = SETTINGS.format(epsilon=0.65, trainings=measured(count))
    text = "\n\n".join((METHODS, settings_text)) + TRACES + NOTE[preset]
    title = "Learning by both methods (figures 17 and 29)"
    return TrainingStudy(DOCUMENT, f"methods-{preset}", title, text, rows, axis="games trained")


def sweep(preset: str, figure: int) -> TrainingStudy:
    """Which value of a parameter learns best?"""
    parameter, name, values, found, trainings = SWEEPS[figure]
    count = trainings if preset == "paper" else 1
    is_lambda = parameter == "trace"
    rows = [
        row(GAMES[preset], f"{name} {value}", trained(preset, count, **{parameter: value}), value, OWN * is_lambda)
        for value in values
    ]
    if is_lambda:
        for value in values[1:]:
            shared = trained(preset, count, trace=value, alpha=0.001 / sum(value**age for age in range(REACH)))
            rows.append(row(GAMES[preset], f"{name} {value}, {SHARED}", shared, value, SHARED))
    text = (
        f"The mean score after training, by {name}; the thesis (100,000 games, alpha 0.001, gamma 1, lambda 0, one"
        f" of them varied) finds that {found}. Its points were pictures and are not known.\n\n"
    )
    epsilon = "the given value" if parameter == "epsilon" else 0.65
    text += SETTINGS.format(epsilon=epsilon, trainings=measured(count))
    text += (TRACES + OF_LAMBDA if is_lambda else "") + NOTE[preset]
    return TrainingStudy(DOCUMENT, f"{name}-{preset}", f"Learning by {name} (figure {figure})", text, rows, axis=name)


def networks(preset: str) -> TrainingStudy:
    """Which tuples learn best, and how many?"""
    count, more = FEW[preset], OF_OPEN if preset == "paper" else {}
    rows = [
        row(GAMES[preset], label, trained(preset, more.get(label, count), network=network))
        for label, network in NETWORKS.items()
    ]
    also = "".join(f"; over {number} for {label}" for label, number in more.items())
    settings = SETTINGS.format(epsilon=0.65, trainings=measured(count) + also)
    text = "\n\n".join((OF_NETWORKS, settings)) + NOTE[preset]
    return TrainingStudy(DOCUMENT, f"networks-{preset}", "Learning by networks (6.2)", text, rows)


def larger(preset: str) -> TrainingStudy:
    """A network above the thesis's best, after a hundredth of its games."""
    learned = Learner("2048", "ntuple(network=4x6)", "td(alpha=1)", max(20, TRAINED[preset] // 10))
    one = LearnedRow(
        Row("4 tuples of 6 cells, coherence", "2048", (), GAMES[preset], "score", LEARNED_SCORE, setting=BEATEN),
        learned,
    )
    text = LARGER + NOTE[preset]
    return TrainingStudy(DOCUMENT, f"larger-{preset}", "Larger tuples, temporal coherence (6)", text, [one])


def at_length(preset: str) -> TrainingStudy:
    """The thesis's best network, trained as long."""
    count = FEW[preset]
    learned = [replace(each, games=10 * each.games) for each in trained(preset, count)]
    one = row(GAMES[preset], "20 tuples of 3 cells, method 1", learned)
    if preset == "paper":
        known = replace(one.row, published=LEARNED_SCORE, published_games=1, setting=CHANGED, reason="lambda 0")
        one = replace(one, row=known)
    text = AT_LENGTH.format(trainings=measured(count)) + NOTE[preset]
    return TrainingStudy(DOCUMENT, f"at-length-{preset}", "Training for 1,000,000 games (6)", text, [one])


def build(preset: str) -> list[TrainingStudy]:
    return [
        methods(preset),
        *(sweep(preset, figure) for figure in SWEEPS),
        networks(preset),
        larger(preset),
        at_length(preset),
    ]


if __name__ == "__main__":
    run_training_studies(__doc__, build, TRAINED)
