"""A run in sections, described once for the terminal, pages, reports and notebooks.

The file `KIND.py` in `kinds/`, or in a folder there, describes the runs of a kind; a new kind needs nothing else here.
It has

- `read(results) -> data`: the data to show, read from the store once; pages keep it until the run has more results;
- `head(results) -> Head`: the run in a sentence, from as little as possible, since lists of runs show it;
- `head_of(results, data) -> Head`, if data that have been read spare it a large part of its work;
- `sections(data) -> Iterator[Section]`: everything else, the main table first;
- `together(data, ...) -> data`, if several runs can be shown as one, such as curves of trainings;
- `mark(results) -> str`, if views may change without a further game: a text that then changes;
- `title(run) -> str`, if it is not the game and the agents;
- `to_json(data) -> Any`, if machines read more than the head and the tables;
- `BEGIN`, commands that begin such a run, by lines; `OPTUNA`, if optuna-dashboard shows it, too;
- `ratings(data) -> frame`, if its agents are rated;
- `adds_up(data) -> str`, if not all of its games count alike: a sentence on how they add up;
- `SEARCHES`, if it shows searched positions: runs of other kinds that have some show them in a tab, too;
- `COMPARES`, if its agents are compared with each other, and so may be set side by side with those of other runs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from turnier.dashboards.tables import Column, Table
from turnier.results.failures import SHOWN_ID, Failures, cause_text
from turnier.runs.declared.kinds import KINDS
from turnier.runs.results import RunResults

if TYPE_CHECKING:
    from turnier.arena.analysis.reanalysis import Reanalysis
    from turnier.dashboards.figures.figure import Figure

OTHER = "games"  # the description of kinds without one of their own


@dataclass(frozen=True)
class Head:
    """A run in a sentence: the leader or the decision, and how sure that is.

    Args:
        sentence: empty if nothing is known yet.
        meaning: its meaning, in a sentence or two.
        colour: of a verdict, such as #009E73; empty without one.
        agents: their names, the best first if that is known.
        unplayed: agents without a game so far.
    """

    sentence: str = ""
    meaning: str = ""
    colour: str = ""
    agents: tuple[str, ...] = ()
    unplayed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text:
    """A sentence below its subject; a warning is red."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Title:
    """The title of the following sections, such as a game."""

    text: str


@dataclass(frozen=True)
class Tab:
    """Begins another tab of the run's page; other views go on below."""

    title: str


@dataclass(frozen=True)
class Copy:
    """A text to copy, such as an agent or a command, with its purpose."""

    text: str
    meaning: str = ""


@dataclass(frozen=True)
class Facts:
    """A few facts by name."""

    rows: Mapping[str, str]
    title: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure drawn when it is first shown, so terminals and the base install draw nothing.

    Args:
        figure: a function of `turnier.dashboards.figures`, such as "tournament.crosstable"; it may return None if there
            is nothing to draw.
        known: its arguments, or a function that returns them when it is drawn.
        table: the table in its place for terminals.
        cells: the fields that a click chooses, for `Meetings` or `Behind`.
        wide: whether nothing may stand beside it.
    """

    figure: str
    known: tuple[Any, ...] | Callable[[], tuple[Any, ...]] = ()
    table: Table | None = None
    cells: Sequence[str] = ()
    wide: bool = False

    @cached_property
    def drawn(self) -> Figure | None:
        module, _, name = self.figure.rpartition(".")
        known = self.known() if callable(self.known) else self.known
        drawn: Figure | None = getattr(importlib.import_module(f"turnier.dashboards.figures.{module}"), name)(*known)
        return drawn


@dataclass(frozen=True)
class Meetings:
    """The games of any two agents with each other, listed on pages; of each agent in games of one seat.

    Args:
        run: its id.
        agents: name -> full text, the best first.
        alone: whether the game has one seat.
        said: returns the result of the first of two names against the second in a sentence; empty if they did not meet.
    """

    run: str
    agents: Mapping[str, str]
    alone: bool
    said: Callable[[str, str], str]


@dataclass(frozen=True)
class Board:
    """The last position of a match, for reports."""

    replay: Callable[[], Reanalysis]


@dataclass(frozen=True)
class Diagram:
    """A position with what there is to say about it.

    Args:
        svg: of the board.
        lines: each with the colour of the cells that it is about; empty for none.
        to: the address of the position in its match; empty if the match is not known.
        drawn: the board in characters, for terminals; empty to show it on pages only.
    """

    svg: str
    lines: Sequence[tuple[str, str]]
    to: str = ""
    drawn: str = ""


@dataclass(frozen=True)
class Diagrams:
    """Positions side by side, drawn when they are first shown."""

    title: str
    make: Callable[[], Sequence[Diagram]]
    note: str = ""

    @cached_property
    def drawn(self) -> Sequence[Diagram]:
        return self.make()


@dataclass(frozen=True)
class Behind:
    """Sections on what a click on a figure chose, in a panel on pages; see `Drawing.cells`.

    Args:
        title: of the panel.
        keys: names in addresses of pages, all of which must be there.
        make: returns the sections for their values.
    """

    title: str
    keys: Sequence[str]
    make: Callable[..., Iterable[Section]]


@dataclass(frozen=True)
class Choice:
    """Sections from which readers choose; where they cannot, the first few are shown.

    Args:
        label: the name of the choice, such as "Measure".
        key: its name in addresses of pages, such as "measure".
        options: the first one is chosen by default.
        make: returns the sections of an option.
        shown: number of options that reports and terminals show; None = all.
        names: option -> text; other options are shown unchanged.
        beside: whether it is small enough to stand beside figures.
    """

    label: str
    key: str
    options: Sequence[str]
    make: Callable[[str], Sequence[Section]]
    shown: int | None = 1
    names: Mapping[str, str] | None = None
    beside: bool = False


@dataclass(frozen=True)
class Among:
    """Sections for any selection of options, such as some of the agents; without a selection, for all.

    If `optional`, nothing is shown without a selection.
    """

    label: str
    key: str
    options: Sequence[str]
    make: Callable[[Sequence[str]], Sequence[Section]]
    optional: bool = False


Section = Text | Title | Tab | Copy | Facts | Table | Drawing | Diagrams | Meetings | Behind | Board | Choice | Among


def kind_of(kind: str) -> Any:
    """Returns the module that describes the runs of a kind."""
    described = _described()
    return importlib.import_module(described.get(kind, described[OTHER]))


@cache
def _described() -> dict[str, str]:
    """Returns kind -> the name of its module, in the folder of kinds or one below it."""
    kinds = importlib.import_module("turnier.dashboards.kinds")
    modules = pkgutil.walk_packages(kinds.__path__, f"{kinds.__name__}.")
    return {module.name.rpartition(".")[2]: module.name for module in modules if not module.ispkg}


def kinds_with(mark: str) -> list[str]:
    """Returns the kinds whose description has a mark, such as `COMPARES`; planned ones first."""
    kinds = [*KINDS, *sorted(_described() - KINDS.keys() - {OTHER})]
    return [kind for kind in kinds if getattr(kind_of(kind), mark, None)]


def described(results: RunResults) -> Any:
    """Returns the module that describes a run."""
    return kind_of(results.store.run(results.id).kind)


def head(results: RunResults) -> Head:
    """Returns a run in a sentence."""
    found: Head = described(results).head(results)
    return found


def sections(results: RunResults) -> Iterator[Section]:
    """Yields the sections of a run below its head and its failures, see `failed_table`; the main table first."""
    kind = described(results)
    yield from kind.sections(kind.read(results))


def flat(some: Iterator[Section] | Sequence[Section]) -> Iterator[Section]:
    """Yields sections without choices: with the options that readers see who cannot choose."""
    for section in some:
        if isinstance(section, Choice):
            for option in section.options[: section.shown]:
                yield from flat(section.make(option))
        elif isinstance(section, Among):
            yield from () if section.optional else flat(section.make(section.options))
        else:
            yield section


def main_table(some: Iterable[Section]) -> Table | None:
    """Returns the first table of some sections; None without one."""
    return next((section for section in flat(list(some)) if isinstance(section, Table)), None)


FAILED = (
    Column("games", "failed"),  # short columns first: a phone shows cause, number and agent
    Column("cause"),
    Column("label", "agent", key=True),
    Column("seats", "seat"),
    Column("reason"),
    Column("share", "of its games", "%", scale=100),
    Column("match", "such as"),
)


def failed_table(failures: Failures) -> Table:
    """Returns a row per agent, cause and reason, the most frequent first."""
    frame = failures.table
    shown = frame.assign(cause=frame["cause"].map(cause_text), match=frame["match"].str[:SHOWN_ID])
    lost, void = "An agent that fails has lost the game.", "Void games have no result and do not count."
    note = " ".join([lost] * bool(failures.failed) + [void] * bool(failures.void))
    return Table("Failed", shown, FAILED, note)
