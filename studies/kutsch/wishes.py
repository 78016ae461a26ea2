"""What the thesis wished for or left untested: rules of the final move, heuristics with a vote, and others.

\b
Examples:
    python studies/kutsch/wishes.py                              scaled down, about a minute
    python studies/kutsch/wishes.py --preset paper --only final-move
    python studies/report.py kutsch:final-move --out docs/results/wishes   the page of one of them

The searches make 200 iterations a move in place of the thesis's 3,500, so that hundreds of games take minutes.
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.thesis import GAMES, HEURISTICS, NOTE, experiment, mctse, score
from turnier.studies.scripts.experiments import run_experiments

ITERATIONS = 200  # per move
FIRST = "score_as_first"
FINAL = """A tree search ends with a choice: the action with the best mean (max child), the most visits (robust child),
both, with up to twice the iterations until one action has them (robust-max child), or the best lower bound, mean - L /
sqrt(visits) (secure child). The thesis describes the four, *assumes* that they make no significant difference, as in
Go, and tests none but the first. Values are shares of 3,932,156 points, so with an L of 1 the secure child would be the
robust one; here L is 0.0002, about the standard deviation of a rollout's value."""
VOTE = """The thesis found that heuristics and a majority vote each gave a few percent, and proposed both together. The
heuristics have the thesis's weights as its program ran them; a vote is of five searches, each as long as the single
one."""

FALLING = """The thesis sees that points grow during a game, so that one K of UCT cannot suit all of it, and names two
remedies: dividing by the best rollout (UCTN, which it built), or a K that falls over the game (not tried). Here K goes
evenly from its first to its last value at 40,000 points. UCTN's K is 1.414 times the best rollout in the units of UCT,
0.0144 at 40,000 points: so it *rises* with the points, and a K that rises from 0 to that is played, too."""
WON = """The traditional value of a rollout is 1 if it is won, which is a 2048 at 2048, -1 if it is lost. The thesis
expects that the agent then plays at random, since hardly any rollout wins, and takes the score. Here rollouts run to
their end, and the tile that wins is varied; *score* is the same search by points, *random* no search."""
TILES = (128, 256, 512, 1024, 2048)
OPPONENT = """The thesis considers 2048 as a game of two, with an opponent that places each tile where it harms most,
but does not build it. Here `duel2048` is that game: the second seat places a 2 or a 4 on any empty cell and loses the
points that the first one makes. *Rows* searches by alpha-beta, three plies deep for tiles and for moves, and evaluates
boards by the tables of rows; *MC* makes 20 rollouts for each action. Scores are those of the first seat."""
WORST = """Does it help in 2048 itself to plan as if an opponent placed the tiles? The thesis names such a program
(Vryniotis 2014), since it makes sure that good actions are chosen wherever the tile comes. Expectimax looks two
decisions ahead, with the tables of rows, and takes of all tiles between them the mean or the worst."""
LENGTH = """The thesis considers the length of rollouts in place of their score, and drops it as suboptimal: short
rollouts are all of one length, whatever the action, and longer ones mostly name the same action as the score. Rollouts
have at most 20 moves, which the thesis finds best by score, or 200, by which nearly all have ended; 100 for each action
in place of 1,000."""


def searching(preset: str, more: str = "") -> str:
    """Returns MCTSE with ITERATIONS a move; `more` are further parameters, with a comma in front."""
    return mctse(preset, ITERATIONS, more=more)


def final_move(preset: str) -> Experiment:
    rules = {
        "max child": "",
        "robust child": ",final=robust",
        "robust-max child": ",final=robust_max",
        "secure child": ",final=secure,security=0.0002",
    }
    rows = [score(preset, label, searching(preset, more), games=4 * GAMES[preset]) for label, more in rules.items()]
    return experiment(preset, "final-move", "Four rules of the final move (4.1, 5.1)", FINAL + NOTE[preset], rows)


def heuristics_vote(preset: str) -> Experiment:
    one, informed = searching(preset), searching(preset, f",evaluator=forgetful2048({HEURISTICS})")
    rows = [
        score(preset, "one search", one, games=4 * GAMES[preset]),
        score(preset, "heuristics", informed, games=4 * GAMES[preset]),
        score(preset, "vote", f"majority(agent={one},members=5)"),
        score(preset, "heuristics and vote", f"majority(agent={informed},members=5)"),
    ]
    title = "Heuristics and a majority vote together (8)"
    return experiment(preset, "heuristics-vote", title, VOTE + NOTE[preset], rows)


def falling_exploration(preset: str) -> Experiment:
    def uct(first: float, last: float | None = None) -> str:
        falling = "" if last is None else f",exploration_end={last},exploration_points=40000"
        return f",selection=uct,exploration={first}{falling}"

    formulas = {
        "UCT, K = 0.0566": uct(0.0566),
        "UCT, K from 0.0566 to 0.0144": uct(0.0566, 0.0144),
        "UCT, K from 0.2 to 0.0144": uct(0.2, 0.0144),
        "UCT, K from 0 to 0.0144": uct(0.0, 0.0144),
        "UCTN, K = 1.414": "",
    }
    rows = [score(preset, label, searching(preset, more), games=3 * GAMES[preset]) for label, more in formulas.items()]
    title = "Exploration that falls over the game (5, idea 2)"
    return experiment(preset, "falling-exploration", title, FALLING + NOTE[preset], rows)


def win_or_loss(preset: str) -> Experiment:
    depth = 20 if preset == "tiny" else 5000
    agents = {
        "score": searching(preset, f",rollout_depth={depth}"),
        **{f"a {t} wins": searching(preset, f",rollout_depth={depth},evaluator=tile2048(tile={t})") for t in TILES},
        "random": "random",
    }
    rows = [score(preset, label, agent, games=2 * GAMES[preset]) for label, agent in agents.items()]
    title = "Won or lost in place of the score (9.2)"
    return experiment(preset, "win-or-loss", title, WON + NOTE[preset], rows)


def minimising_tile(preset: str) -> Experiment:
    agents = {
        "random": "random",
        "MC": f"mc(iterations={2 if preset == 'tiny' else 20},rollout_depth=20)",
        "rows": "alphabeta(depth=3,evaluator=rows2048)",
    }
    rows = [
        Row(f"{mover}, tiles by {placer}", "duel2048", (agents[mover], agents[placer]), 2 * GAMES[preset], FIRST)
        for mover in ("rows", "MC", "random")
        for placer in ("random", "MC", "rows")
    ]
    title = "2048 against a player who places the tiles (4.5)"
    return experiment(preset, "minimising-tile", title, OPPONENT + NOTE[preset], rows)


def worst_case(preset: str) -> Experiment:
    one = "expectimax(depth=1,evaluator=rows2048)"
    two = {way: f"expectimax(depth=2,evaluator=rows2048,chance={way})" for way in ("mean", "worst")}
    agents = {"mean of the tiles": two["mean"], "worst of the tiles": two["worst"], "one decision, no tiles": one}
    rows = [score(preset, label, agent, games=4 * GAMES[preset]) for label, agent in agents.items()]
    return experiment(preset, "worst-case", "Plans for the worst tile (4.5)", WORST + NOTE[preset], rows)


def rollout_length(preset: str) -> Experiment:
    rows = []
    for depth in (20, 200):
        agent = f"mc(iterations={2 if preset == 'tiny' else 100},rollout_depth={depth}"
        agents = {"score": f"{agent})", "length": f"{agent},evaluator=rollout_length)"}
        rows += [score(preset, f"{v}, depth {depth}", agents[v], games=4 * GAMES[preset]) for v in agents]
    return experiment(
        preset, "rollout-length", "The length of rollouts as their value (3.2)", LENGTH + NOTE[preset], rows
    )


def build(preset: str) -> list[Experiment]:
    trees = [final_move(preset), heuristics_vote(preset), falling_exploration(preset), win_or_loss(preset)]
    return [*trees, minimising_tile(preset), worst_case(preset), rollout_length(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
