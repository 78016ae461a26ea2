"""What the scripts on learning share: Kutsch's networks and settings, or a hundredth of their games.

Kutsch 2017, 6.1: 20 tuples of three cells by random walk, 100,000 games, epsilon from 0.65 to 0, gamma 1.
"""

from __future__ import annotations

from turnier.runs.experiment import Row
from turnier.runs.trained_experiment import LearnedRow, Learner

TRAINED = {"quick": 1000, "paper": 100_000}
GAMES = {"quick": 20, "paper": 200}  # of a row
LOOKUPS = 160
NOTE = {
    "quick": "\n\nThis is the quick preset: a hundredth of the thesis's games, after which little is learned yet."
    " The paper preset trains as long as the thesis.",
    "paper": "",
}
SETTINGS = """Networks have 20 tuples of three cells by random walk and learn with epsilon from {epsilon} to 0. Alpha is
given as in the thesis, which is understood as the step of every entry that is looked up: for the whole board it is 160
times as large (20 tuples, 8 symmetries), and where lambda lets an error count for several boards their steps add up to
that. The thesis lets epsilon fall by a logarithm that is not printed, ours falls linearly. All moves are learned from,
random ones too: see figure 17. What is measured is the greedy agent on the network, without random moves."""
REACH = 64  # boards that an error counts for at most, as `horizon` of td


def learner(
    preset: str,
    alpha: float = 0.001,
    epsilon: float = 0.65,
    gamma: float = 1.0,
    trace: float = 0.0,
    method: int = 1,
    points: int = 1,
    from_random: bool = True,
) -> Learner:
    """Returns a learner of the thesis; alpha as the thesis writes it."""
    whole = alpha * LOOKUPS / sum((gamma * trace) ** age for age in range(REACH))
    settings = f"alpha={whole:.6g},coherence=false,epsilon={epsilon},epsilon_end=0,method={method},horizon={REACH}"
    learning = f"td({settings},discount={gamma},trace={trace},from_random={str(from_random).lower()})"
    return Learner("2048", "ntuple(tuples=20,length=3)", learning, TRAINED[preset], points)


def row(preset: str, label: str, learned: Learner, x: float, series: str = "", place: int = 0) -> LearnedRow:
    """Returns a row with the greedy agent on what was learned after so many games, 0 = at the end."""
    return LearnedRow(Row(label, "2048", (), GAMES[preset], "score", x=x, series=series), learned, place)
