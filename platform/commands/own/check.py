"""`turnier check`: the laws of a game, agent, evaluator or sampler, and which of them it breaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from turnier.commands.options import JsonOption
from turnier.core.terminal.console import Console
from turnier.core.terminal.visible import say

if TYPE_CHECKING:
    from turnier.contract.process import Finding

COLOURS = {"broken": "red", "unchecked": "yellow", "kept": "green"}


def check(
    names: Annotated[
        list[str],
        typer.Argument(help='games, agents, evaluators and samplers, such as bot.py:Bot or "mcts(iterations=50)"'),
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="game in which agents and evaluators are checked; repeat for more; default: small games that suit them"
        ),
    ] = None,
    limit: Annotated[float, typer.Option(help="maximum seconds per law", min=1)] = 120,
    as_json: JsonOption = False,
) -> None:
    """Check that a game, agent, evaluator or sampler keeps its laws.

    Everything here relies on these laws. For each one, the command says whether it is kept or how it is broken; the
    exit code is 1 if any is broken. The laws are checked in a separate process, so code that crashes or never ends is
    reported, too. Files that the code read, but that are no part of its version, are named at the end.

    \b
    Examples:
      turnier check tictactoe
      turnier check "mcts(iterations=50)" --game nim --game "2048(size=3)"
    """
    from turnier.contract.opened_files import sentence_of
    from turnier.contract.process import BROKEN, Checking
    from turnier.runs.bar import game_bar

    findings: list[Finding] = []
    for name in names:
        found = []
        with Checking(name, game or (), limit) as checking:
            with Console(stderr=True).status(f"loading {name}"):
                laws = checking.begin()
            with game_bar(f"checking {name}", len(laws), unit="laws") as bar:
                for finding in checking.findings(laws):
                    found.append(finding)
                    bar.advance(1)
            note = sentence_of(checking.undeclared())
        findings += found
        if not as_json:
            for kind in dict.fromkeys(finding.kind for finding in found):
                Console().print(law_table(name, kind, [finding for finding in found if finding.kind == kind]))
        if note:
            say(note, errors=as_json)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    if any(finding.state == BROKEN for finding in findings):
        raise typer.Exit(1)


def law_table(name: str, kind: str, findings: Sequence[Finding]) -> Table:
    """Returns one row per law: what must hold where it is kept in all games, otherwise the first game's sentence."""
    by_law: dict[str, list[Finding]] = {}
    for finding in findings:
        by_law.setdefault(finding.law, []).append(finding)
    games = list(dict.fromkeys(finding.game for finding in findings if finding.game))
    title = Text(f"{name}, {kind}" + (f", in {', '.join(games)}" if games else ""))
    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("law", ratio=1, overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("what must hold, or how it is broken", ratio=3, overflow="fold")
    said = set[str]()
    for law, found in by_law.items():
        worst = min(found, key=lambda finding: list(COLOURS).index(finding.state))
        alike = sum(finding.state == worst.state for finding in found)
        shown = "as above" if worst.sentence in said else worst.sentence or worst.must
        where = f" (in {alike} of {len(found)} games)" if worst.sentence and len(found) > 1 else ""
        table.add_row(law, Text(worst.state, COLOURS[worst.state]), Text(shown + where))
        said.add(worst.sentence or worst.must)
    broken = {finding.law for finding in findings if finding.state == "broken"}
    table.caption = f"{len(broken)} of {len(by_law)} laws broken" if broken else f"all {len(by_law)} laws kept"
    return table
