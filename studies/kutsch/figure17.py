"""How does a network learn 2048, by both target methods? Kutsch 2017, figures 17 and 29.

\b
Examples:
    python studies/kutsch/figure17.py                   a thousand games of training
    python studies/kutsch/figure17.py --preset paper    100,000 games, evaluated ten times on the way
"""

from __future__ import annotations

from learners import NOTE, SETTINGS, TRAINED, learner, row

from turnier.commands.scripts.trained_experiments import run_training_studies
from turnier.runs.trained_experiment import TrainingStudy

# series -> how it learns; the last two learn from no random move, as is usual
CURVES = {
    **{f"method {m}, lambda {trace}": {"method": m, "trace": trace} for m in (1, 2) for trace in (1, 0)},
    **{f"greedy moves only, alpha {alpha:f}": {"alpha": alpha, "from_random": False} for alpha in (0.00002, 0.0001)},
}
TEXT = """The mean score by games trained. Method 1: the target is the score when the game is over; method 2: each
move's reward and the next value. The thesis's settings have lambda 1. With 1,000,000 games it reaches about 29,900
points, near 33,000 at the best, and falls to about 1,040, those of a random agent, at the end of training, which it
takes for a bug. It finds method 1 much better than method 2 in 6.2 and the other way round in 6.3.

Where random moves are played, but not learned from, learning diverges, even with a small alpha (the last two lines,
method 1 and lambda 0): the weights grow without bounds, and the score goes on rising as long as their order is right.
Here they end as no numbers, and the first legal action is played; a program whose values are bounded would find all
moves equal and play at random, as the thesis's agent did in the end. That this is what happened there is a guess; its
program is not known."""


def build(preset: str) -> list[TrainingStudy]:
    rows = []
    for series, settings in CURVES.items():
        learned = learner(preset, points=10 if preset == "paper" else 2, **settings)
        rows += [row(preset, f"{series}, {place:,} games", learned, place, series, place) for place in learned.places]
    text = "\n\n".join((TEXT, SETTINGS.format(epsilon=0.65))) + NOTE[preset]
    title = "Learning by both methods (figures 17 and 29)"
    return [TrainingStudy("kutsch", f"methods-{preset}", title, text, rows, axis="games trained")]


if __name__ == "__main__":
    run_training_studies(__doc__, build, TRAINED)
