"""How strong is MCTS at Yavalath, by number of iterations? Weitz 2022, table 1 and figures 10 and 11.

\b
Examples:
    python studies/weitz/table1.py                     half a minute on two cores
    python studies/weitz/table1.py --preset paper      200 games per row, as in the thesis; ten minutes
    python studies/report.py weitz                               the page with all of Weitz's studies
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import CHANGED
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 20, "paper": 200, "tiny": 2}  # per row
# Ludii does not come with Turnier. As many iterations as it makes in its second on our machine (11,000 to 14,000), and,
# as in Ludii, no limit of tree depth.
STAND_IN = 12_000
REASON = "plain UCT in place of Ludii"
PUBLISHED = {1: 0.0, 1000: 11.0, 5000: 17.0, 10_000: 37.0, 25_000: 44.5}
BY_SEAT = {10_000: (55.0, 19.0), 25_000: (62.0, 27.0)}  # won as first and as second, of figures 10 and 11
TEXT = """The thesis lets its MCTS (UCT, K = 1.414, tree depth 25, rollout depth 2000, normalised) play 200 games
against Ludii's *Biased MCTS (Uniform Playouts)* with a second per move. Ludii does not come with Turnier (the agent
`ludii` plays where you have it); its stand-in here is plain UCT with {stand_in:,} iterations, as many as Ludii makes in
its second. So compare the shape (more iterations win more, but ever less so), not the level: Ludii's search is also
biased by features."""

SCALED = "\n\nThis preset divides all iterations by {scale}, so published figures are left out."


def build(preset: str) -> list[Experiment]:
    games = GAMES[preset]
    scale = 100 if preset == "tiny" else 1
    opponent = f"mcts(iterations={STAND_IN // scale},tree_depth=61)"

    def row(published_iterations: int, more: str, measure: str, published: float) -> Row:
        iterations = max(1, published_iterations // scale)
        label, agents = f"{iterations:,} iterations{more}", (f"mcts(iterations={iterations})", opponent)
        comparable = published if scale == 1 else None
        return Row(
            label,
            "yavalath",
            agents,
            games,
            measure,
            comparable,
            None if more else iterations,
            published_games=100 if more else 200,  # of figures 10 and 11, of table 1
            setting=CHANGED,
            reason=REASON,
        )

    strength = [row(iterations, "", "win_rate", published) for iterations, published in PUBLISHED.items()]
    by_seat = [
        row(iterations, f", {place}", measure, published)
        for iterations, figures in BY_SEAT.items()
        for place, measure, published in zip(
            ("first", "second"), ("wins_as_first", "wins_as_second"), figures, strict=True
        )
    ]
    text = TEXT.format(stand_in=STAND_IN) + (SCALED.format(scale=scale) if scale > 1 else "")
    title = "MCTS by iterations (table 1)"
    return [
        Experiment("weitz", f"table1-{preset}", title, text, tuple(strength), axis="iterations a move"),
        Experiment("weitz", f"figures10-11-{preset}", "The same by seat (figures 10 and 11)", text, tuple(by_seat)),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
