"""Which epsilon, alpha, gamma and lambda learn 2048 best? Kutsch 2017, figures 25 to 28.

\b
Examples:
    python studies/kutsch/figure25.py                   a thousand games for each of the settings
    python studies/kutsch/figure25.py --preset paper    100,000 games each
"""

from __future__ import annotations

from learners import NOTE, SETTINGS, TRAINED, learner, row

from turnier.commands.scripts.trained_experiments import run_training_studies
from turnier.runs.trained_experiment import TrainingStudy

# figure -> the parameter here, the thesis's name, the values tried, and what the thesis found
SWEEPS: dict[int, tuple[str, str, tuple[float, ...], str]] = {
    25: ("epsilon", "epsilon", (0.0, 0.1, 0.25, 0.45, 0.65, 0.85, 1.0), "about 0.65 is best"),
    26: ("alpha", "alpha", (0.0001, 0.0003, 0.001, 0.003, 0.006), "about 0.001 is best"),
    27: ("gamma", "gamma", (0.9, 0.99, 0.995, 0.999, 1.0), "1 is best"),
    28: ("trace", "lambda", (0.0, 0.25, 0.5, 0.75, 1.0), "1 is best"),
}
TRACES = """ Lambda's traces reach back 64 moves."""


def build(preset: str) -> list[TrainingStudy]:
    studies = []
    for figure, (parameter, name, values, found) in SWEEPS.items():
        rows = [row(preset, f"{name} {value}", learner(preset, **{parameter: value}), value) for value in values]
        more = TRACES if parameter == "trace" else ""
        start = "the given value" if parameter == "epsilon" else 0.65
        text = (
            f"The mean score after training, by {name}; the thesis (100,000 games, alpha 0.001, gamma 1, lambda 0, one"
            f" of them varied) finds that {found}. Its points were pictures and are not known.\n\n"
            + SETTINGS.format(epsilon=start) + more + NOTE[preset]
        )  # fmt: skip
        title = f"Learning by {name} (figure {figure})"
        studies.append(TrainingStudy("kutsch", f"{name}-{preset}", title, text, rows, axis=name))
    return studies


if __name__ == "__main__":
    run_training_studies(__doc__, build, TRAINED)
