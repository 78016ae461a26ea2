"""The progress bar of all long work: count, rate and time left."""

from __future__ import annotations

import importlib
import io
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..core.compilation.progress import error_console
from ..core.number_text import number
from ..core.terminal.console import Console
from ..results.store.progress import ProgressReporter
from ..results.store.store import Store

if TYPE_CHECKING:
    from ..arena.workers.executor import Executor

T = TypeVar("T")
REDRAW_SECONDS = 0.2  # in notebooks
NOTEBOOK_WIDTH = 100  # characters
QUIET = Console(quiet=True, force_jupyter=False)  # for a hidden bar


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed, decisions = task.speed or 0.0, task.fields["decisions"]
        so_far = f"{decisions:,} decisions so far" if decisions else ""
        return Text(f"{number(speed)} {task.fields['unit']}/s" if speed else so_far, style="cyan")


class _Progress(Progress):
    look: Callable[[], None] | None = None  # called before every drawing

    def get_renderables(self) -> Iterable[RenderableType]:
        if self.look:
            self.look()
        return super().get_renderables()


class Bar:
    """A running bar; `label` and `note` may change while it runs."""

    def __init__(self, progress: _Progress, label: str, total: int, unit: str, completed: int) -> None:
        self._progress = progress
        self._lock = threading.Lock()  # several threads may advance a bar
        self.total, self.unit = total, unit
        self.waits: Callable[[], bool] = lambda: False  # whether it waits for a first worker
        self._under_way: Callable[[], tuple[int, int]] = lambda: (0, 0)  # decisions, and finished matches, not stored
        self.done = self.skipped = self._shown = completed  # skipped: done earlier, does not count for the rate
        self.said = ""  # the latest line in a notebook
        self._task = progress.add_task(label, total=total, completed=completed, note="", unit=unit, decisions=0)
        progress.look = self._look

    def follow(self, executor: Executor) -> None:
        """Shows how far the work of an executor is, between its records."""
        self.waits, self._under_way = executor.waits, executor.under_way

    def _look(self) -> None:
        done, (decisions, over) = self.done, self._under_way()  # in this order, no game counts twice
        if decisions:
            self._progress.update(self._task, decisions=decisions)
            self._show(done + over)

    def _show(self, completed: int) -> None:
        """Shows work that is done, which may have been shown when it was over and not stored yet."""
        with self._lock:
            self._shown = max(self._shown, completed)
            self._progress.update(self._task, completed=self._shown)

    def advance(self, done: int) -> None:
        with self._lock:
            self.done += done
        self._show(self.done)

    def skip(self, done: int) -> None:
        """Counts work that was done earlier."""
        with self._lock:
            self.skipped += done
            self.done += done
            self._shown = self.done
        self._progress.reset(self._task, completed=self.done, total=self.total)  # forgets the speed

    def expect(self, more: int, unit: str) -> None:
        """Raises the total by `more` and sets the unit that is counted from now on."""
        self.total, self.unit = self.total + more, unit
        self._progress.update(self._task, total=self.total, unit=unit)

    def plan(self, left: int) -> None:
        """Replaces an estimate of the work left."""
        self.expect(self.done + left - self.total, self.unit)

    def reached(self, done: int, total: int) -> None:
        """Sets the work done, and the total."""
        self.done = self._shown = done
        self.total = total
        self._progress.update(self._task, completed=done, total=total)

    def note(self, text: str) -> None:
        self._progress.update(self._task, note=text)

    def print(self, text: str) -> None:
        """Prints a line above the bar; a notebook's cell shows the latest one below it."""
        if self._progress.console.is_jupyter:
            self.said = text
        else:
            self._progress.console.print(text, markup=False, soft_wrap=True)  # so that commands in it can be copied


class Part(Bar):
    """A part of a bar's work, with a count of its own; what it shows appears in the whole bar."""

    def __init__(self, whole: Bar, total: int) -> None:
        self.whole, self.total, self.unit, self.waits = whole, total, whole.unit, whole.waits
        self.done = self.skipped = 0

    def advance(self, done: int) -> None:
        self.done += done
        self.whole.advance(done)

    def skip(self, done: int) -> None:
        self.skipped, self.done = self.skipped + done, self.done + done
        self.whole.skip(done)

    def note(self, text: str) -> None:
        self.whole.note(text)

    def print(self, text: str) -> None:
        self.whole.print(text)


@contextmanager
def game_bar(
    label: str, total: int, console: Console | None = None, unit: str = "games", completed: int = 0
) -> Iterator[Bar]:
    """Shows a bar over `total` games (or another `unit`), `completed` of them earlier, on standard error."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    console = console or error_console()
    progress = _Progress(*columns, console=console, speed_estimate_period=20)
    bar = Bar(progress, label, total, unit, completed)
    with _in_notebook(progress, bar) if console.is_jupyter else progress:
        yield bar


@contextmanager
def _in_notebook(progress: Progress, bar: Bar) -> Iterator[None]:
    """Shows a bar as one output of a notebook's cell, redrawn in place; rich's own way needs ipywidgets."""
    shown = importlib.import_module("IPython.display")  # every notebook has it
    handle = shown.display(shown.HTML(""), display_id=True)
    ended = threading.Event()

    def redraw() -> None:
        while not ended.wait(REDRAW_SECONDS):
            handle.update(shown.HTML(_html(progress, bar.said)))

    drawing = threading.Thread(target=redraw, daemon=True)
    drawing.start()
    try:
        yield
    finally:
        ended.set()
        drawing.join()
        handle.update(shown.HTML(_html(progress, bar.said)))


def _html(progress: Progress, said: str) -> str:
    paper = Console(file=io.StringIO(), record=True, width=NOTEBOOK_WIDTH, force_jupyter=False)
    paper.print(progress.get_renderable())
    if said:
        paper.print(said, markup=False, highlight=False, soft_wrap=True)
    return paper.export_html(inline_styles=True, code_format='<pre style="white-space: pre">{code}</pre>')


def one_by_one(items: Sequence[T], label: str, unit: str) -> Iterator[T]:
    """Yields the items under a bar that counts the finished ones."""
    with game_bar(label, len(items), unit=unit) as bar:
        for item in items:
            yield item
            bar.advance(1)


@contextmanager
def run_bar(
    store: Store,
    run_id: str,
    label: str,
    total: int,
    console: Console | None = None,
    unit: str = "games",
    completed: int = 0,
) -> Iterator[Bar]:
    """Shows a bar as `game_bar` does, and reports the progress to the store; every run uses this."""
    with (
        game_bar(label, total, console, unit, completed) as bar,
        ProgressReporter(store, run_id, bar, lambda: bar.waits()),
    ):
        yield bar


@contextmanager
def part_bar(store: Store, run_id: str, whole: Bar, total: int) -> Iterator[Part]:
    """Counts a run's work that is a part of another's, and reports its progress to the store."""
    bar = Part(whole, total)
    with ProgressReporter(store, run_id, bar, lambda: bar.waits()):
        yield bar
