"""`turnier check-engine`: the laws of a protocol, and which of them an engine breaks."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from turnier.commands.options import JsonOption
from turnier.core.terminal.console import Console


def check_engine(
    command: Annotated[str, typer.Argument(help='the program with its arguments, such as "gnugo --mode gtp"')],
    protocol: Annotated[str, typer.Option(help="what the engine speaks: uci, gtp or json")] = "uci",
    game: Annotated[
        str,
        typer.Option(
            help="game in which the engine is checked; default: chess for uci, go for gtp, tictactoe for json"
        ),
    ] = "",
    limit: Annotated[float, typer.Option(help="maximum seconds for an answer", min=0.1)] = 10,
    margin: Annotated[float, typer.Option(help="seconds by which a move may be late", min=0)] = 0.2,
    as_json: JsonOption = False,
) -> None:
    """Check that an engine keeps the laws of its protocol.

    For each law, the command says whether it is kept or how it is broken; the exit code is 1 if any is broken.

    \b
    Examples:
      turnier check-engine stockfish
      turnier check-engine "gnugo --mode gtp" --protocol gtp
      turnier check-engine "python3 bot.py" --protocol json --game connect_four
    """
    from turnier.commands.own.check import law_table
    from turnier.contract.engines.checking import EngineChecking
    from turnier.contract.process import BROKEN
    from turnier.runs.bar import game_bar

    checking, findings = EngineChecking(command, protocol, game, limit, margin), []
    with game_bar("checking the engine", len(checking.laws), unit="laws") as bar:
        for finding in checking.findings():
            findings.append(finding)
            bar.advance(1)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        Console().print(law_table(command, findings[0].kind, findings))
    if any(finding.state == BROKEN for finding in findings):
        raise typer.Exit(1)
