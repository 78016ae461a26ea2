"""`turnier show`: anything with a name in a store, in the terminal or as a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...core.errors import UserError
from ...core.outputs import require_file
from ..options import DEFAULT_URL, JsonOption, StoreOption, is_typed, writable_file

if TYPE_CHECKING:
    from ...results.store.store import Run, Store
    from ...runs.results import RunResults
    from ..runs.show import Shown

ROWS = 200  # of a table
MIN_GAMES = 10  # of an agent in the rating list of a game
MATCHES = 20  # that are listed
OF_MATCHES = (".gif", ".mp4", ".svg", ".json")
OPTIONS = {  # kind of thing shown -> its options besides --store
    "run": {
        "out",
        "html",
        "matches",
        "why",
        "agent",
        "whole",
        "rows",
        "anchor",
        "nash",
        "crosstable",
        "candidates",
        "as_json",
        "game",
        "min_games",
    },
    "archive": {"out", "means", "whole", "rows", "anchor", "nash", "crosstable", "as_json", "game", "min_games"},
    "match": {"out", "delay", "overlay"},
    "bot": {"game", "save", "as_json"},
    "game": {"rows", "min_games", "anchor", "nash", "crosstable", "as_json"},
}


def _names(incomplete: str) -> list[str]:
    from ..completion import names_of

    return [name for name in (*names_of("run"), *names_of("game")) if name.startswith(incomplete)]


def show(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="a run (last, its name, or the beginning of its id), a match's id, a file of your own code, a game, or"
            " a file of games; default: the newest run",
            autocompletion=_names,
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="write it to a file: a run to .html, .csv, .parquet, .jsonl, .pgn, .sgf or a folder; a match to .gif,"
            " .mp4, .svg, or .json (an official spe_ed log)"
        ),
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="write a run as one self-contained page, RUN.html")] = False,
    matches: Annotated[bool, typer.Option("--matches", help=f"list the newest {MATCHES} matches of a run")] = False,
    why: Annotated[
        bool, typer.Option("--why", help="of a run: positions in which two of its agents differ, and what that cost")
    ] = False,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="with --why: one of the two agents, in any text form; repeat it. Default: the first two"),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="show every table of a run, not only the main one")] = False,
    game: Annotated[str, typer.Option(help="of a run or bot: only its games of this game")] = "",
    rows: Annotated[int, typer.Option(help="rows that a table shows", min=1)] = ROWS,
    min_games: Annotated[
        int, typer.Option(help="of a game: leave out agents with fewer games", show_default=str(MIN_GAMES), min=0)
    ] = 0,
    anchor: Annotated[str, typer.Option(help="the agent whose Elo is 0; default: the run's")] = "",
    nash: Annotated[
        bool, typer.Option(help="always show Nash averages beside Elo; copies of an agent do not change them")
    ] = False,
    crosstable: Annotated[
        Path | None,
        typer.Option(help="also write the scores of all pairs of agents to this CSV file", callback=writable_file),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            help="of a study: also write its candidates, with parameters, value, games and generation, to this CSV",
            callback=writable_file,
        ),
    ] = None,
    means: Annotated[
        bool, typer.Option("--means", help="of an archive: only means and shares of points, for any number of games")
    ] = False,
    delay: Annotated[float, typer.Option(help="of a match: seconds between two positions", min=0, max=3600)] = 0.15,
    overlay: Annotated[
        int | None,
        typer.Option(
            help="of a spe_ed match, with --out FILE.svg: the position before this move, and its agent's computations",
            min=1,
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="of a bot: write its files into this new folder")] = None,
    store: StoreOption = DEFAULT_URL,
    as_json: JsonOption = False,
) -> None:
    """Show a run, a match, your versions of a bot, or the ratings of a game.

    A run is shown as at the end of its command, with 95 % intervals; the default is the newest run. A match is
    replayed. For your own code, all versions that have played are listed with their ratings; bot.py:Bot@1c94e07 plays
    again as it was, and bot.py:Bot@PREVIOUS as before the last edit. For a game, the agents are rated over all its
    stored games. Archives and files of exported games are shown without a store.

    \b
    Examples:
      turnier show
      turnier show tournament:1f0c --html
      turnier show last --out games.jsonl    # or .csv, .parquet, .pgn, .sgf
      turnier show last --matches
      turnier show last --why    # boards in which the best two differ most, searched again
      turnier show 3f9a1c --out game.gif
      turnier show bot.py
      turnier show yavalath --anchor random
      turnier show tournament-1f0c.parquet --means
    """
    given = {name: value for name, value in locals().items() if name not in ("context", "what", "store")}
    typed = [name for name in given if is_typed(context, name)]
    _require_out(out, overlay)
    if what.endswith(".parquet"):
        return _show_archive(Path(what), _checked("archive", typed, given))
    if ".py" in what:
        return _show_bot(what, store, _checked("bot", typed, given))
    if _is_file_of_games(what):
        return _show_match(what, store, _checked("match", typed, given))
    from ...results.store.store import Store

    with Store.open(store, read_only=True) as opened:
        run = None if what and _is_game(what) else _run(opened, what)
        if run is not None:
            return _show_run(opened, run, _checked("run", typed, given), bool(what))
        if _is_game(what):
            return _show_game(opened, what, _checked("game", typed, given))
    _show_match(what, store, _checked("match", typed, given))


def _require_out(out: Path | None, overlay: int | None) -> None:
    """Raises UserError if a match cannot be written to a file, before looking for the match."""
    if out is not None and out.suffix in OF_MATCHES:
        require_file(out, "--out")
    if overlay is not None and (out is None or out.suffix != ".svg"):
        raise UserError("--overlay draws into a picture; add --out FILE.svg.")


def _checked(what: str, typed: list[str], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the options; raises UserError for one that does not apply to this kind of thing."""
    for name in typed:
        if name not in OPTIONS[what]:
            option = f"--{name.removeprefix('as_').replace('_', '-')}"
            others = [f"a {each}" for each, names in OPTIONS.items() if name in names]
            raise UserError(f"{option} is for {' or '.join(others)}, and this is a {what}; leave it out.")
    return given


def _is_file_of_games(what: str) -> bool:
    file, colon, line = what.rpartition(":")
    return os.path.isfile(what) or bool(colon and line.isdigit() and os.path.isfile(file))


def _is_game(what: str) -> bool:
    from ...games.registry import GAMES

    return what.partition("(")[0] in GAMES.places


def _run(store: Store, what: str) -> Run | None:
    """Returns the run of that name; None if it is the beginning of a match's id instead."""
    if not what and not store.runs():
        raise UserError("no run is stored here yet; type: turnier tournament tictactoe random mcts")
    try:
        return store.find_run(what or "last")
    except UserError:
        with contextlib.suppress(UserError):
            store.find_record(what)
            return None
        raise


def _show_run(store: Store, run: Run, options: Mapping[str, Any], named: bool) -> None:
    from ...core.terminal.visible import say, visible_line
    from ...runs.results import RunResults
    from ..runs.show import show_run, write_tables

    if options["html"] or options["out"]:
        write_tables(RunResults.find(store, run.id), _shown(options))
        return _write_run(store, run, options["out"], options["html"])
    if not named:
        say(visible_line(f"The newest run, {run.id}:"), errors=options["as_json"])
    if options["why"] or options["agent"]:
        return _show_why(RunResults.find(store, run.id), options["agent"] or ())
    if options["matches"]:
        return _list_matches(store, run, options["as_json"])
    if options["game"]:
        from .game_ratings import show_game

        return show_game(store, options["game"], run, options["min_games"] or MIN_GAMES, _shown(options))
    show_run(RunResults.find(store, run.id), _shown(options))


def _show_why(results: RunResults, asked: Sequence[str]) -> None:
    """Prints where two agents of a run differ most; without any named, the first two of its list."""
    from turnier.dashboards.every_run import differences, games
    from turnier.dashboards.sections import head
    from turnier.dashboards.terminal import print_sections

    from ...core.terminal.console import Console
    from ...results.frames.matches import matches_frame

    frame = matches_frame(results.store, run=results.id, ids=False)
    names = games.agents_of(frame)
    leading = [one for one in head(results).agents if one in names.values()]
    agents = games.full_texts(asked or leading[:2], names)
    if len(agents) != 2:
        raise UserError(f"--why compares two agents of a run, got {len(agents)}; name them with --agent.")
    print_sections(Console(), differences.sections(results.store, results.id, frame, agents), whole=True)


def _shown(options: Mapping[str, Any]) -> Shown:
    from ..runs.show import Shown

    names = ("as_json", "whole", "rows", "crosstable", "candidates", "anchor", "nash")
    return Shown(**{name: options[name] for name in names})


def _write_run(store: Store, run: Run, out: Path | None, html: bool) -> None:
    from ...core.terminal.visible import say
    from ...results.export import Source

    if html or (out and out.suffix == ".html"):
        from turnier.dashboards.reports.run import write_run_report

        say(f"Page: {write_run_report(store, run.id, out or Path('.'))}")
        return
    assert out is not None
    _export(Source.of_store(store, run), store.match_counts().get(run.id, 0), out)


def _export(source: Any, games: int, out: Path) -> None:
    from ...core.terminal.console import Console
    from ...results.export import export_files, export_from
    from ...runs.bar import game_bar

    export_files(out)
    with game_bar(source.run.name, games) as bar:
        paths = export_from(source, out, bar.advance)
    for path in paths:
        Console().print(f"{path}: {bar.done:,} games", markup=False, soft_wrap=True)


def _require_suffix(out: Path, suffixes: tuple[str, ...], what: str) -> None:
    if out.suffix not in suffixes:
        known = ", ".join(filter(None, suffixes))
        raise UserError(f"a {what} is written to a file ending in {known}, got {out}; choose one of these.")


def _list_matches(store: Store, run: Run, as_json: bool) -> None:
    import json

    from turnier.dashboards.agent_names import distinct, planned_labels, with_names_in

    from ...core.terminal.visible import say, visible_line
    from ...results.match_list import list_matches

    found = list_matches(store, run.id, limit=MATCHES)
    if as_json:
        print(json.dumps([match._asdict() for match in found], indent=2))
        return
    names = distinct(planned_labels(run))
    for match in found:
        say(visible_line(f"{match.id[:12]}  {with_names_in(match.text, names)}"))
    say(f"turnier show {found[0].id[:12]} replays one." if found else f"{run.id} has no matches.")


def _show_game(store: Store, game: str, options: Mapping[str, Any]) -> None:
    from .game_ratings import show_game

    show_game(store, game, None, options["min_games"] or MIN_GAMES, _shown(options))


def _show_archive(path: Path, options: Mapping[str, Any]) -> None:
    from ...results.archive.reading import Archive
    from ...results.archive.restoring import as_store
    from ...results.export import Source
    from ...runs.results import RunResults
    from ..runs.show import write_tables
    from .game_ratings import show_means

    archive = Archive.open(path)
    if options["means"]:
        return show_means(archive, options["as_json"])
    if options["out"]:
        if options["crosstable"]:
            with as_store(archive) as (store, run):
                write_tables(RunResults.find(store, run.id), _shown(options))
        return _export(Source.of_archive(archive), archive.total.rows, options["out"])
    with as_store(archive) as (store, run):
        _show_run(store, run, {**options, "html": False, "matches": False}, True)


def _show_match(what: str, store: str, options: Mapping[str, Any]) -> None:
    from .replay import replay

    out: Path | None = options["out"]
    if out is not None:
        _require_suffix(out, OF_MATCHES, "match")
    replay(what, store, options["delay"], out, options["overlay"])


def _show_bot(name: str, store: str, options: Mapping[str, Any]) -> None:
    from .versions import versions

    versions(name, options["game"], options["save"], store, options["as_json"])
