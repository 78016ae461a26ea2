"""`turnier runs archive`: writes the games of a run to one small file, and restores them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...core.errors import UserError
from ...core.terminal.console import Console
from ..options import DEFAULT_URL, StoreOption, YesOption

if TYPE_CHECKING:
    from ...results.store.store import Store


def archive(
    run: Annotated[str, typer.Argument(help="a run: its id or the beginning of it, or last")] = "",
    out: Annotated[
        Path | None, typer.Option(help="the file to write, ending in .parquet; default: KIND-ID.parquet")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="then delete the run's games from the store")] = False,
    restore: Annotated[Path | None, typer.Option(help="restore the run of this archive")] = None,
    yes: YesOption = False,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Write the games of a run to an archive, or restore them.

    An archive is a Parquet file with a row per game and every move; it is about 15 times smaller than a store and is
    read many times faster (needs: pip install 'turnier[parquet]'). The file is read back and compared with every
    checksum before it appears. With --remove, the games are then deleted from the store, but the run stays: turnier
    show RUN reads them from the archive. The run can be resumed only after --restore.

    turnier show also takes an archive in place of a run.

    \b
    Examples:
      turnier runs archive last
      turnier runs archive tournament:1f0c --out old.parquet --remove
      turnier runs archive --restore old.parquet
    """
    from ...results.store.store import Store

    if bool(run) == (restore is not None):
        raise UserError("archive takes a run, or --restore FILE, got " + ("both" if run else "neither") + "; give one.")
    if restore is not None:
        if out is not None or remove:
            raise UserError("--restore takes a file only, got --out or --remove, too; leave them out.")
        _restore(restore, store)
        return
    with Store.open(store, read_only=not remove) as results:
        _archive(results, run, out, remove, yes)


def _archive(store: Store, name: str, out: Path | None, remove: bool, yes: bool) -> None:
    from ...results.archive.restoring import remove_games
    from ...results.archive.writing import require_archive, write_archive
    from ...results.store.run_changes import refuse_running
    from ...runs.bar import game_bar

    run = store.find_run(name)
    store.annotations.refuse_archived(run.id)
    path = out or Path(f"{run.id.replace(':', '-').replace('/', '-')}.parquet")
    require_archive(path)
    if remove:
        refuse_running(store, run)
        if not yes:
            typer.confirm(f"Delete the games of {run.id} from the store once they are archived?", abort=True)
    with game_bar(run.name, 2 * store.match_counts().get(run.id, 0)) as bar:
        archived = write_archive(store, run, path, bar.advance)
    games, size = archived.total.rows, path.stat().st_size
    _say(f"{path}: {games:,} games, {size / 1e6:,.1f} MB, {size / games:,.1f} bytes per game, read back and checked.")
    if remove:
        remove_games(store, run, archived)
        restored = shlex.join(["turnier", "runs", "archive", "--restore", str(path)])
        _say(f"The games of {run.id} have left the store; {restored} restores them.")


def _restore(path: Path, url: str) -> None:
    from ...results.archive.reading import Archive
    from ...results.archive.restoring import restore, run_in
    from ...results.store.store import Store
    from ...runs.bar import game_bar

    archived = Archive.open(path)
    with Store.open(url) as store, game_bar(run_in(archived).name, 2 * archived.total.rows) as bar:
        run = restore(store, archived, bar.advance)
    _say(f"{run.id}: {archived.total.rows:,} games are in the store.")


def _say(text: str) -> None:
    Console().print(text, markup=False, soft_wrap=True, highlight=False)
