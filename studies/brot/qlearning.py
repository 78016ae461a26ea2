"""Learns a table for the agent `qlearning` of spe_ed by self-play (Brot 2021, 3.3).

\b
Examples:
    python studies/brot/qlearning.py --out q.npz --games 20000
    turnier tournament "spe_ed(width=41,height=41)" "qlearning(file=q.npz)" basic --games 100

Stop it with Ctrl-C or lose the machine; the same command goes on where it was.
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.agents.spe_ed.q_learning import Learning, QTraining
from turnier.commands.command_line import run_app
from turnier.core.errors import UserError
from turnier.runs.bar import game_bar

BEGUN = Learning()
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help=__doc__)
def main(
    out: Annotated[Path, typer.Option(help="the table; one that is there is learned on")],
    game: Annotated[str, typer.Option(help="the game, with as many seats as learn together")] = BEGUN.game,
    games: Annotated[int, typer.Option(help="games in all, those of earlier runs included", min=1)] = BEGUN.games,
    window: Annotated[int, typer.Option(help="cells a side that the player sees, an odd number", min=1)] = BEGUN.window,
    bits: Annotated[int, typer.Option(help="the table has 2**bits rows of 5", min=4, max=26)] = BEGUN.bits,
    alpha: Annotated[float, typer.Option(help="learning rate", min=0, max=1)] = BEGUN.alpha,
    gamma: Annotated[float, typer.Option(help="what the next round is worth", min=0, max=1)] = BEGUN.gamma,
    epsilon_begin: Annotated[float, typer.Option(help="random actions at first", min=0, max=1)] = BEGUN.epsilon_begin,
    epsilon_end: Annotated[float, typer.Option(help="random actions at last", min=0, max=1)] = BEGUN.epsilon_end,
    seed: Annotated[int, typer.Option(help="same seed, same table", min=0)] = BEGUN.seed,
) -> None:
    if window % 2 == 0 or window > 7:
        raise UserError(f"a window must be odd and at most 7 cells a side, got {window}; choose 3, 5 or 7.")
    learning = Learning(game, window, bits, alpha, gamma, epsilon_begin, epsilon_end, games, seed)
    training = QTraining(learning, out)
    with game_bar(str(training.game), games, completed=training.done) as bar:

        def report(count: int, rounds: float) -> None:
            bar.advance(count)
            bar.note(f"{rounds:.1f} rounds a game")

        training.run(report)
    filled = int(training.table.any(axis=1).sum())
    Console().print(
        f"{out}: {training.done:,} games, {filled:,} of {len(training.table):,} rows in use", soft_wrap=True
    )


if __name__ == "__main__":
    run_app(app)
