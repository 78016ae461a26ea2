"""Shows the results of a run in the terminal; every command that plays a run ends with this."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.errors import UserError
from ...core.terminal.console import Console
from ..other_code import print_other_code

if TYPE_CHECKING:
    import pandas as pd

    from ...results.frames import Standings
    from ...runs.results import RunResults


class Shown(NamedTuple):
    """How results are shown."""

    as_json: bool = False
    whole: bool = False  # every table, not only the main one
    rows: int = 200  # agents of a rating list
    crosstable: Path | None = None  # file to which it is written, too
    candidates: Path | None = None  # of a study, likewise
    anchor: str = ""  # the agent whose Elo is 0
    nash: bool = False  # whether Nash averages are shown in any case


def show(results: RunResults, as_json: bool = False) -> None:
    """Prints a run as the command that played it ends; see `show_run`."""
    show_run(results, Shown(as_json))


def show_run(results: RunResults, shown: Shown, console: Console | None = None) -> None:
    """Prints a run: its head, its main table with notes, and its failures.

    Raises UserError, after all that, if an agent failed in all of its games and the run is to rate agents.
    """
    from turnier.dashboards import sections, terminal
    from turnier.dashboards.agent_names import distinct, planned_labels, with_names_in

    from ...results.store.progress import progress_of_runs

    kind, console, run = sections.described(results), console or Console(), results.store.run(results.id)
    rated = {"anchor": shown.anchor, "nash": shown.nash} if getattr(kind, "RATES", False) else {}
    data = kind.read(results, **rated)
    write_tables(results, shown)
    if shown.as_json:
        print_json(kind.to_json(data))
    else:
        head = kind.head_of(results, data) if hasattr(kind, "head_of") else kind.head(results)
        terminal.say(console, f"{run.name} ({run.id})", "bold")
        terminal.say(console, next((one.stopped for one in progress_of_runs(results.store) if one.run == run.id), ""))
        terminal.say(console, head.sentence)
        terminal.say(console, head.meaning if shown.whole else "")
        terminal.print_sections(console, kind.sections(data), shown.whole, shown.rows)
        failures = results.all_failures()
        names = distinct([*failures.table["label"], *planned_labels(run)])
        for sentence in results.warnings(failures):
            terminal.say(console, with_names_in(sentence, names), "red")
        if rated:
            _require_rated(failures.table)
    print_other_code(results.store, results.id, shown.as_json)


def _require_rated(failures: pd.DataFrame) -> None:
    for label, part in failures[failures["agent"] != ""].groupby("label", sort=False):
        games = int(part["games"].sum())
        if games >= round(part["games"].iloc[0] / part["share"].iloc[0]):
            raise UserError(f"{label} must play to be rated, but it failed in all of its {games:,} games; fix it.")


def write_tables(results: RunResults, shown: Shown) -> None:
    """Writes the tables that are asked for as files, beside whatever else is shown or written."""
    if shown.crosstable is not None:
        write_crosstable(results.standings(anchor=shown.anchor, nash=shown.nash), shown.crosstable)
    if shown.candidates is not None:
        write_candidates(results, shown.candidates)


def write_crosstable(standings: Standings, path: Path) -> None:
    """Writes the scores of all pairs of agents as CSV; raises UserError unless they are of one game."""
    games = standings.ratings["game"].unique().tolist()
    if len(games) != 1:
        named = f"{len(games)}: {', '.join(games)}" if games else "none with two agents"
        raise UserError(f"--crosstable must be of one game, got {named}; choose one with --game.")
    _write_csv(standings.crosstable(), path, "crosstable", index_label="agent")


def write_candidates(results: RunResults, path: Path) -> None:
    """Writes the candidates of a study as CSV; raises UserError for any other run."""
    candidates = getattr(results, "candidates", None)
    if candidates is None:
        raise UserError(f"--candidates is for studies, got {results.id}; leave it out.")
    _write_csv(candidates(), path, "candidates", index=False)


def _write_csv(frame: Any, path: Path, option: str, **how: Any) -> None:
    try:
        frame.to_csv(path, **how)
    except OSError as failure:
        raise UserError(f"--{option} must be a file that can be written, got {path}: {failure.strerror}.") from None


def print_json(content: Any) -> None:
    """Prints JSON, with null for NaN (unknown)."""
    print(json.dumps(json.loads(json.dumps(content), parse_constant=lambda _: None), indent=2))
