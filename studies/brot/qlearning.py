"""Learns a table for the agent `qlearning` of spe_ed by self-play (Brot 2021, 3.3).

\b
Examples:
    python studies/brot/qlearning.py --out q.npz --games 20000
    turnier tournament "spe_ed(width=41,height=41)" "qlearning(file=q.npz)" basic --games 100

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.spe_ed.q_learning import Learning, QTraining
from turnier.commands.options import writable_file
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.core.outputs import only_writer
from turnier.core.terminal.console import Console
from turnier.runs.bar import game_bar
from turnier.studies.scripts.script import run_script

DEFAULTS = Learning()


def main(
    out: Annotated[
        Path, typer.Option(help="file for the table; an existing one is trained further", callback=writable_file)
    ],
    game: Annotated[str, typer.Option(help="the game; every seat learns")] = DEFAULTS.game,
    games: Annotated[int, typer.Option(help="total number of games, including earlier runs", min=1)] = DEFAULTS.games,
    window: Annotated[
        int, typer.Option(help="side of the square that the player sees, an odd number of cells", min=1)
    ] = DEFAULTS.window,
    bits: Annotated[int, typer.Option(help="the table has 2**bits rows of 5", min=4, max=26)] = DEFAULTS.bits,
    alpha: Annotated[float, typer.Option(help="learning rate", min=0, max=1)] = DEFAULTS.alpha,
    gamma: Annotated[float, typer.Option(help="discount of the next round", min=0, max=1)] = DEFAULTS.gamma,
    epsilon_begin: Annotated[
        float, typer.Option(help="share of random actions at first", min=0, max=1)
    ] = DEFAULTS.epsilon_begin,
    epsilon_end: Annotated[
        float, typer.Option(help="share of random actions at the end", min=0, max=1)
    ] = DEFAULTS.epsilon_end,
    seed: Annotated[int, typer.Option(help="same seed, same table", min=0)] = DEFAULTS.seed,
) -> None:
    if window % 2 == 0 or window > 7:
        raise UserError(f"the window must be an odd number of cells, at most 7, got {window}; choose 3, 5 or 7.")
    learning = Learning(game, window, bits, alpha, gamma, epsilon_begin, epsilon_end, games, seed)
    with only_writer(out, f"has learned {game}"):
        training = QTraining(learning, out)
        with game_bar(str(training.game), games, completed=training.done) as bar:

            def report(count: int, rounds: float) -> None:
                bar.advance(count)
                bar.note(f"{number(rounds)} rounds per game")

            training.run(report)
    filled = int(training.table.any(axis=1).sum())
    Console().print(
        f"{out}: {training.done:,} games, {filled:,} of {len(training.table):,} rows in use", soft_wrap=True
    )


if __name__ == "__main__":
    run_script(main, __doc__)
