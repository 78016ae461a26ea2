"""`turnier export`: the games of a run as files."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from turnier.commands.options import DEFAULT_URL, StoreOption
from turnier.core.terminal.console import Console


def export(
    run: Annotated[
        str,
        typer.Argument(help="a run that `turnier status` shows, or a file of turnier archive"),
    ],
    out: Annotated[
        Path,
        typer.Option(help="a file ending in .csv, .parquet, .jsonl, .pgn or .sgf, or a folder for the first three"),
    ],
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Write the games of a run to files.

    Tables (CSV, Parquet) have one row per seat. JSON lines have one game per line with every move, so that
    turnier verify GAME FILE.jsonl can replay them without a store. PGN is for chess, SGF for Go, Othello and Hex.

    \b
    Examples:
      turnier export tournament:1f0c --out games.csv
      turnier export tournament:1f0c --out folder
      turnier export tournament:1f0c --out games.pgn
    """
    from turnier.results.archive.reading import Archive
    from turnier.results.export import Source, export_files, export_from
    from turnier.results.store.store import Store
    from turnier.runs.bar import game_bar

    export_files(out)
    with contextlib.ExitStack() as stack:
        if run.endswith(".parquet"):
            archive = Archive.open(Path(run))
            source, games = Source.of_archive(archive), archive.total.rows
        else:
            results = stack.enter_context(Store.open(store, read_only=True))
            stored = results.find_run(run)
            source, games = Source.of_store(results, stored), results.match_counts().get(stored.id, 0)
        with game_bar(source.run.name, games) as bar:
            paths = export_from(source, out, bar.advance)
    for path in paths:
        Console().print(f"{path}: {bar.done:,} games", markup=False, soft_wrap=True)
