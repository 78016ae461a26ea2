"""How does a network learn 2048, by both target methods? Kutsch 2017, figures 17 and 29.

\b
Examples:
    python studies/kutsch/figure17.py                   a thousand games of training
    python studies/kutsch/figure17.py --preset paper    100,000 games, evaluated ten times on the way
"""

from __future__ import annotations

from learners import NOTE, SETTINGS, TRAINED, learner, row

from turnier.training_study import TrainingStudy, run_training_studies

CURVES = {(method, trace): f"method {method}, lambda {trace}" for method in (1, 2) for trace in (1, 0)}
TEXT = """The mean score by games trained. Method 1: the target is the score when the game is over; method 2: each
move's reward and the next value. The thesis's settings have lambda 1. With 1,000,000 games it reaches about 29,900
points, near 33,000 at the best, and falls to about 1,040, those of a random agent, at the end of training, which it
takes for a bug. It finds method 1 much better than method 2, and wonders whether method 2 is right, since Jaskowski
2016 found the opposite. Lambda's traces reach back 64 moves here."""


def build(preset: str) -> list[TrainingStudy]:
    rows = []
    for (method, trace), series in CURVES.items():
        learned = learner(preset, method=method, trace=trace, points=10 if preset == "paper" else 2)
        rows += [row(preset, f"{series}, {place:,} games", learned, place, series, place) for place in learned.places]
    text = "\n\n".join((TEXT, SETTINGS.format(epsilon=0.65))) + NOTE[preset]
    title = "Learning by both methods (figures 17 and 29)"
    return [TrainingStudy("kutsch", f"figure17-{preset}", title, text, rows, axis="games trained")]


if __name__ == "__main__":
    run_training_studies(__doc__, build, TRAINED)
