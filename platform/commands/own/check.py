"""`turnier check`: the laws of a class, an engine or recorded games, and which of them are broken."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ...core.terminal.console import Console
from ...core.terminal.visible import say
from ..options import DEFAULT_URL, JsonOption, StoreOption

if TYPE_CHECKING:
    from ...contract.process import Finding

COLOURS = {"broken": "red", "unchecked": "yellow", "kept": "green"}


def check(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|COMMAND|FILE|RUN",
            help='such as bot.py:Bot, "mcts(iterations=50)", "gnugo --mode gtp" or games.jsonl; with --sample a run',
        ),
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="game in which to check agents, evaluators and engines, or the game of recorded games; repeat for"
            " more; default: small games that suit them, the game of an engine's protocol, or the one named in the file"
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="protocol of an engine: uci, gtp or json; default: uci for a program on this machine")
    ] = "",
    limit: Annotated[
        float | None,
        typer.Option(
            help="maximum seconds for a law, default: 120, or for an answer of an engine, default: 10", min=0.1
        ),
    ] = None,
    margin: Annotated[float, typer.Option(help="seconds by which an engine's move may be late", min=0)] = 0.2,
    sample: Annotated[
        str, typer.Option(help="play this share of a run's games again here, such as 5%, and compare them")
    ] = "",
    store: StoreOption = DEFAULT_URL,
    as_json: JsonOption = False,
) -> None:
    """Check that a class, an engine or recorded games keep their laws.

    All results rely on these laws. For each one, the command says whether it is kept or how it is broken; the exit code
    is 1 if any is broken. Games, agents, evaluators and samplers are checked in a separate process, so code that
    crashes or never ends is reported, too. Files that the code reads but that are not part of its version are named at
    the end. An engine is checked against its protocol. Recorded games from any source and official logs of spe_ed are
    replayed by the rules.

    With --sample, a share of a run's games is played again on this machine; the command says how many are the same and
    which machines played the others. Games that their seeds do not determine are left out: those of programs, of agents
    with a time limit, and of code that is not Turnier's own.

    \b
    Examples:
      turnier check tictactoe
      turnier check "mcts(iterations=50)" --game nim --game "2048(size=3)"
      turnier check stockfish
      turnier check "python3 bot.py" --protocol json --game connect_four
      turnier check tests/data/2048/moves.jsonl --game 2048
      turnier check last --sample 5%
    """
    from ...contract.process import BROKEN
    from ...contract.subjects import subject_of
    from ...runs.bar import game_bar

    if sample:
        from ..workers.sample import verify_sample

        for name in names:
            verify_sample(name, sample, store)
        return
    findings: list[Finding] = []
    for name in names:
        found = []
        with subject_of(name, game or (), limit, protocol, margin) as subject:
            with Console(stderr=True).status(f"loading {name}"):
                laws = subject.begin()
            with game_bar(f"checking {name}", len(laws), unit="laws") as bar:
                for finding in subject.findings(laws):
                    found.append(finding)
                    bar.advance(1)
            note = subject.note()
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
    """Returns a row per law: its text if it is kept in all games, otherwise the worst game's sentence."""
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
    table.caption = f"{len(broken)} of {len(by_law)} laws broken" if broken else f"all laws kept: {len(by_law)}"
    return table
