"""Optuna studies in a store: opened only with the definition with which they began, otherwise refused."""

from __future__ import annotations

import contextlib
import json
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from json import JSONDecodeError
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import optuna
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from ...core.errors import UserError
from ...results.integrity.damage import damaged
from ...results.store.locks import Lock
from ...results.store.store import Store
from ...runs.bar import QUIET, Bar, run_bar
from ...runs.plan import Playing
from .. import FIRST_EDITION
from ..verdict import StudyVerdict
from .checked_studies import is_foreign, read_trials, set_note, study_notes, with_checksum
from .lasting_storage import LastingStorage
from .trials import study_names

optuna.logging.set_verbosity(optuna.logging.WARNING)
ATTEMPTS = 15
_DAMAGED = "malformed|not a database|UTF-8|no such|NULL"  # in errors of SQLite and Optuna
DEFINITION, VERDICT = "definition", "verdict"  # notes of a study
RECOMMENDED = "recommended"  # the user attribute of Optuna with the agent of the verdict
MAXIMIZE = (StudyDirection.MAXIMIZE,)


def run_id_of(study: str) -> str:
    """Returns the id of the run that holds the games of a study."""
    return f"study:{study}"


def has_study(store: Store, name: str, definition: Mapping[str, Any]) -> bool:
    """Returns whether a study of that name is stored with exactly this definition."""
    mine: dict[str, Any] = json.loads(json.dumps(definition))
    return any(run.id == run_id_of(name) and run.definition == mine for run in store.runs())


class Definition(Protocol):
    """The definition of any kind of study."""

    @property
    def name(self) -> str: ...
    @property
    def edition(self) -> int: ...
    @property
    def stored(self) -> dict[str, Any]: ...


D = TypeVar("D", bound=Definition)


def as_begun(store: Store, definition: D) -> D:
    """Returns the definition in the edition of the stored study, which must continue as it began."""
    known = {run.id: run.definition for run in store.runs()}.get(run_id_of(definition.name))
    if known is None:
        return definition
    later = {"edition": int(known.get("edition", FIRST_EDITION)), "begun_as": known.get("begun_as")}
    return replace(definition, **{key: value for key, value in later.items() if value})  # type: ignore[type-var]


class StoredStudy:
    """A study in a store: its trials in Optuna's tables, and a run of the same name with its games."""

    def __init__(
        self,
        store: Store,
        name: str,
        definition: Mapping[str, Any],
        directions: Sequence[StudyDirection] = MAXIMIZE,
        progress: bool = True,
        created: str | None = None,
    ) -> None:
        """Opens a study, and begins it if it is not stored; an imported one was `created` elsewhere."""
        self.store, self.run_id = store, run_id_of(name)
        self.console = None if progress else QUIET  # of bars; None = standard error
        with optuna_errors(store.shown_url):
            self._storage = open_storage(store)
        self.optuna = open_study(store, self._storage, name, definition, directions)
        store.begin_run(self.run_id, "study", name, definition, created)
        self._run: Playing | None = None  # all phases share its bar
        self._later = 0  # games of the phases after the search

    def name_values(self, *names: str) -> None:
        """Names the values that the search optimises, for users of Optuna."""
        with optuna_errors(self.store.shown_url), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names of values are called experimental
            if self.optuna.metric_names != list(names):
                self.optuna.set_metric_names(list(names))

    def add_trials(self, trials: Sequence[FrozenTrial]) -> None:
        """Stores finished trials with their checksums, all or none; they get the next numbers."""
        self._storage.add_finished(self.optuna._study_id, [with_checksum(trial) for trial in trials])

    def store_verdict(self, verdict: StudyVerdict) -> None:
        """Stores a verdict with the study, and for users of Optuna: its agent, and as optuna-dashboard's note."""
        with optuna_errors(self.store.shown_url):
            set_note(self.optuna, VERDICT, verdict.to_json())
            self.optuna.set_user_attr(RECOMMENDED, verdict.agent)
            with contextlib.suppress(ImportError):  # only needed, and only installed, with the extra `dashboard`
                from optuna_dashboard import save_note

                save_note(self.optuna, f"{verdict.sentence}\n\n    {verdict.agent}\n")

    def foreign_trials(self, *more: TrialState) -> int:
        """Returns the number of finished trials that other code has added, and of those in `more` states."""
        with optuna_errors(self.store.shown_url):
            states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, *more)
            return sum(map(is_foreign, self.optuna.get_trials(deepcopy=False, states=states)))

    @contextmanager
    def driving(self, lock: Lock, total: int) -> Iterator[tuple[Lock, Bar]]:
        """Holds the study's lock and shows a search of `total` games; storage failures become one sentence."""
        with lock, optuna_errors(self.store.shown_url), self.phase("", total, self._later) as bar:
            yield lock, bar

    @contextmanager
    def sharing(self, run: Playing, later: int) -> Iterator[None]:
        """Shows all phases within it in the bar of a run.

        Args:
            run: its bar opens with the first phase: a driver that waits for another one shows none.
            later: maximum number of games after the search; the bar counts them from the beginning.
        """
        self._run, self._later = run, later
        yield
        self._run, self._later = None, 0

    @contextmanager
    def phase(self, note: str, games: int, later: int = 0) -> Iterator[Bar]:
        """Shows a phase of at most this many games, alone or in the bar of a run, where `later` games follow."""
        alone = run_bar(self.store, self.run_id, self.optuna.study_name, games + later, self.console)
        with nullcontext(self._run.bar) if self._run else alone as bar:
            bar.plan(games + later)
            bar.note(note)
            yield bar
            bar.plan(later)  # the phase may have ended early


def stored_verdict(store: Store, study: str) -> StudyVerdict | None:
    """Returns the verdict of a study, None if it has none yet."""
    stored = study_notes(store, study, VERDICT).get(VERDICT)
    return None if stored is None else StudyVerdict.from_json(stored)


def open_study(
    store: Store,
    storage: LastingStorage,
    name: str,
    definition: Mapping[str, Any],
    directions: Sequence[StudyDirection] = MAXIMIZE,
) -> optuna.Study:
    """Returns the study of that name; raises UserError if it is stored with another definition."""
    begun = run_id_of(name) in {run.id for run in store.runs()}
    with optuna_errors(store.shown_url):
        if begun and name not in study_names(store):
            raise store.database.damaged(f"the candidates of study {name} are missing")
        study = optuna.create_study(storage=storage, study_name=name, directions=list(directions), load_if_exists=True)
        mine, stored = json.loads(json.dumps(definition)), study_notes(store, name, DEFINITION).get(DEFINITION)
        if stored is None:
            if study.get_trials(deepcopy=False):
                raise UserError(f"study {name!r} was not made by turnier; choose another name with --name.")
            set_note(study, DEFINITION, mine)
            return study
    with store.database.reading() as connection:
        read_trials(store, connection, name)  # raises if they are damaged
    with store.database.decoding(f"study {name}"):
        study.get_trials(deepcopy=False)
    keys = stored | mine  # some are stored only if they are set
    different = [
        f"{key} {stored.get(key)!r} (now {mine.get(key)!r})" for key in keys if stored.get(key) != mine.get(key)
    ]
    if different:
        raise UserError(
            f"study {name!r} is stored with {', '.join(different)};"
            " repeat the stored values to resume it, or start another study with --name."
        )
    return study


def open_storage(store: Store) -> LastingStorage:
    """Opens Optuna's storage; retries if another driver creates its tables at the same time."""
    for attempt in range(ATTEMPTS):
        try:
            return LastingStorage(store)
        except (DBAPIError, optuna.exceptions.StorageInternalError) as failure:
            reason = str(failure.__cause__ or failure)
            if attempt == ATTEMPTS - 1 or not re.search("exist|unique|duplicate|locked", reason, re.IGNORECASE):
                raise
            time.sleep(0.2)
    raise AssertionError


def read_only_storage(store: Store) -> optuna.storages.RDBStorage:
    """Returns Optuna's storage in a store that the database itself opens read-only."""
    url = make_url(store.url)
    if store.database.is_sqlite:
        read_only = f"sqlite:///file:{quote(str(url.database))}?mode=ro&uri=true"
    else:
        options = url.update_query_dict({"options": "-c default_transaction_read_only=on"})
        read_only = options.render_as_string(hide_password=False)
    with optuna_errors(store.shown_url):
        return optuna.storages.RDBStorage(read_only)


@contextmanager
def optuna_errors(url: str) -> Iterator[None]:
    """Turns a storage failure inside Optuna into one sentence."""
    try:
        yield
    except (optuna.exceptions.OptunaError, DBAPIError, RuntimeError, UnicodeDecodeError, JSONDecodeError) as failure:
        reason = str(failure.__cause__ or failure).strip().splitlines()[0]
        if re.search(_DAMAGED, reason) or isinstance(failure, ValueError):
            raise damaged(f"the study storage at {url}", url, f"got: {reason}") from failure
        raise UserError(
            f"the study storage at {url} must answer, got: {reason}; fix the cause and repeat the command."
        ) from None
