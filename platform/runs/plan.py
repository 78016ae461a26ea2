"""Plans: the declarations of all kinds of runs.

The signature of a plan's `__init__` declares the options of the run (`declared/options.py`); its docstring is the help
of the command. A kind of run is a plan, a drawing of its results (`dashboards/kinds`), and a line in the package's
table of kinds.
"""

from __future__ import annotations

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from ..arena.workers.where import ANYWHERE, Where
from ..core.errors import MALFORMED, UserError
from ..core.outside.bundle_modules import require_no_import
from .declared.options import Declared, Option, declared_of, require_known

if TYPE_CHECKING:
    from ..arena.workers.executor import Executor
    from ..games.game import Game
    from ..results.store import Place
    from ..results.store.store import Run, Store
    from .bar import Bar
    from .results import RunResults

R = TypeVar("R", bound="RunResults")
OWN_SEEDS = "own_seeds"  # in definitions: the games have seeds of their own, unlike in earlier versions


class Playing:
    """The means to play a plan: a run that has begun, its store and workers; the bar opens on first use."""

    def __init__(self, store: Store, id: str, pool: Executor, bar: Callable[[], Bar]) -> None:
        self.store, self.id, self.pool = store, id, pool
        self._opened = bar

    @functools.cached_property
    def bar(self) -> Bar:
        return self._opened()


class Plan(ABC, Generic[R]):
    """A run that can be played, stopped, resumed and shown; R is the class of its results.

    Making a plan raises UserError if it could not be played: for an unknown option, a value of another type or out of
    its range, and values that do not fit each other.
    """

    kind: ClassVar[str]  # of the run, in the store; "" if a plan only shares code
    declared: ClassVar[dict[str, Declared]]  # the options, by name
    game: Game
    options: dict[str, Any]  # the given values of the options
    only_plan: bool = False  # whether the run is only to be forecast
    called: str = ""  # the name to give to the run; empty = its label
    skipped: int = 0  # the part of `total` that `run` found stored
    lasting: ClassVar[str] = ""  # why games of such runs must stay; empty if the command can play them again

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "__init__" in vars(cls):
            init: Callable[..., None] = vars(cls)["__init__"]
            cls.declared = declared_of(init)
            setattr(cls, "__init__", _checking(init, cls.declared))  # noqa: B010, a method cannot be assigned

    @property
    def settings(self) -> dict[str, Any]:
        """All options as JSON values, from which the same plan can be made; games and agents as full text."""
        return {name: _as_json(self.options[name], each.option) for name, each in self.declared.items()}

    @property
    def definition(self) -> dict[str, Any]:
        """The options that define the run, without those that may change when it resumes; the store refuses others."""
        return {name: value for name, value in self.settings.items() if not self.declared[name].option.more}

    @property
    def run_id(self) -> str:
        """The id: equal definitions are one run."""
        from ..arena.match import derive_seed

        return f"{self.kind}:{derive_seed(json.dumps(self.definition)):016x}"

    @property
    def label(self) -> str:
        """The name of the run and of its bar."""
        return str(self.game)

    @property
    @abstractmethod
    def total(self) -> int:
        """The number of games or other units of work, as far as known at the start."""

    @property
    def unit(self) -> str:
        """The unit of `total`."""
        return "games"

    def has_begun(self, store: Store) -> bool:
        """Whether a store has the run."""
        return self.run_id in {run.id for run in store.runs()}

    def notices(self, store: Store) -> list[str]:
        """Returns the sentences to print before the first game."""
        return []

    def forecast(self, workers: int = 1) -> list[str]:
        """Returns sentences on what the run can be expected to show, and in what time with a number of workers."""
        return []

    def placed(self, where: Where) -> Where:
        """Returns the place where the run plays if `where` is requested; raises UserError if it cannot play there."""
        return where

    def stop(self) -> bool:
        """Makes `run` end soon with KeyboardInterrupt after saving its work; returns False if there is none to save."""
        return False

    @property
    def kept(self) -> str:
        """Describes what a stopped run keeps."""
        return "finished games are stored"

    @abstractmethod
    def play(self, run: Playing) -> None:
        """Plays whatever the store lacks."""

    def run(self, store: Store | Place = None, *, where: Where | Executor = ANYWHERE, progress: bool = True) -> R:
        """Plays the run into a store and returns its results; after a stop or a kill, the same call resumes it.

        Args:
            store: a store, its file, or its URL; the default is TURNIER_STORE, or turnier.db.
            where: the place to play, or a started executor, which stays open.
            progress: whether to show a bar.
        """
        from ..arena.workers.make import at_work
        from ..results.store.store import Store as Stored
        from .bar import QUIET, run_bar

        require_no_import(f"a {self.kind}")
        at = store if isinstance(store, Stored) else Stored.open(store)
        self.require_playable(at)
        with at_work(self.placed(where) if isinstance(where, Where) else where) as pool, ExitStack() as shown:
            self.begin(at, pool.workers)
            if self.called:
                self.rename(at, at.run(self.run_id), self.called)

            def bar() -> Bar:
                console = None if progress else QUIET
                name = self.called or self.label
                opened = shown.enter_context(run_bar(at, self.run_id, name, self.total, console, self.unit))
                opened.follow(pool)
                return opened

            self.play(run := Playing(at, self.run_id, pool, bar))
            self.skipped = run.bar.skipped
        results = self.reopened(at, at.run(self.run_id))
        results.warn_of_failures()
        return results

    def begin(self, store: Store, workers: int) -> None:
        """Stores the definition of the run, and its settings; a new run may depend on the workers."""
        store.begin_run(self.run_id, self.kind, self.label, self.definition)
        self._keep_settings(store)

    def _keep_settings(self, store: Store) -> None:
        from ..results.store.annotations import SETTINGS

        store.annotations.set(self.run_id, SETTINGS, json.dumps(self.settings))

    def require_playable(self, store: Store) -> None:
        """Raises UserError if the run is new and would show nothing; called before workers start."""
        self.has_begun(store)

    @classmethod
    @abstractmethod
    def reopened(cls, store: Store, run: Run) -> R:
        """Returns the results of a stored run, from the store alone."""

    @classmethod
    def of_run(cls, store: Store, run: Run, **changes: Any) -> Self:
        """Returns the plan of a stored run, with its latest values, or with changes of some.

        Raises UserError if a change would make it another run, or if a file that it names, such as an agent's, has
        changed.
        """
        for name in changes:
            if name in cls.declared and not cls.declared[name].option.more:
                raise UserError(f"{run.id} keeps its {name}; leave it out, or begin a new run.")
        try:
            options = cls.options_of(run)
        except MALFORMED:
            raise UserError(f"{run.id} cannot be resumed: its definition says too little; begin a new run.") from None
        plan = cls(**options | cls._last_settings(store, run) | changes)
        if not plan.has_begun(store) or plan.run_id != run.id:
            why = f"with another {' and '.join(changes)}" if changes else "as a file that it names has changed"
            raise UserError(f"{run.id} goes on as it began, but {why} it would be {plan.run_id}; undo that.")
        return plan

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        """Returns the options given by the definition of a stored run."""
        return {name: value for name, value in run.definition.items() if name in cls.declared}

    @classmethod
    def _last_settings(cls, store: Store, run: Run) -> dict[str, Any]:
        from ..results.store.annotations import SETTINGS

        stored = store.annotations.get(run.id, SETTINGS)
        with store.database.decoding(f"the settings of {run.id}"):
            known = json.loads(stored or "{}")
            return {name: value for name, value in known.items() if name in cls.declared}

    @classmethod
    def delete(cls, store: Store, run: Run) -> None:
        """Deletes a run and everything that no other run has."""
        from ..results.store.run_changes import delete_run

        delete_run(store, run)

    @classmethod
    def rename(cls, store: Store, run: Run, name: str) -> None:
        """Gives a run another name."""
        from ..results.store.run_changes import rename_run

        rename_run(store, run, name)

    @classmethod
    def parts(cls, store: Store, run: Run) -> dict[str, int]:
        """Returns the numbers of a run's other parts beside games and searches, by plural noun."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.label}, {self.total:,} {self.unit}: {self.run_id})"


def _checking(init: Callable[..., None], declared: dict[str, Declared]) -> Callable[..., None]:
    """Returns an `__init__` that checks its arguments by the declarations."""
    names = list(declared)
    by_place = [each.name for each in declared.values() if each.by_place]

    @functools.wraps(init)
    def checking(self: Plan[Any], *given: Any, **named: Any) -> None:
        if len(given) > len(by_place):
            raise UserError(
                f"a {self.kind} takes only {_listed(by_place)} without names; write the others as NAME=VALUE."
            )
        values = dict(zip(names, given, strict=False))
        if twice := values.keys() & named.keys():
            raise UserError(f"a {self.kind} takes {min(twice)} once, got it twice.")
        values |= named
        require_known(values, declared, self.kind)
        values = {name: declared[name].checked(value, self.kind) for name, value in values.items()}
        self.options = {name: values.get(name, each.default) for name, each in declared.items()}
        init(self, **self.options)

    return checking


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)


def _as_json(value: Any, option: Option) -> Any:
    """Returns an option's value for JSON, with games and agents, even if given as text, as their full text."""
    if isinstance(value, list | tuple):
        return [_as_json(each, option) for each in value]
    if not value or option.complete not in ("game", "agent"):
        return value.full_text() if hasattr(value, "full_text") else value
    if option.complete == "game":
        from ..games.registry import GAMES

        return GAMES.make(value).full_text()
    from ..agents.registry import AGENTS

    return AGENTS.make(value).full_text()
