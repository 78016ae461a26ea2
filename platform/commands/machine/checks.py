"""The checks of `turnier doctor`: whether everything that Turnier needs works here, and how to fix what does not."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sqlalchemy import text

from ...arena.play_kernel import play_many
from ...arena.workers.cluster.actors import RayActors
from ...arena.workers.cluster.machines.admission import examined
from ...core.compilation.code_digest import release
from ...core.errors import UserError
from ...core.kernel import JIT
from ...results.databases.urls import sqlite_file
from ...results.integrity.damage import Damaged
from ...results.repair.inspection import Finding, inspect_store
from ...results.store.database import Database, NoResults, clock
from ...results.store.manifest import cpu_model, memory_bytes
from ...results.store.store import Store
from ...runs.bar import game_bar
from ...search.storage.study_repair import inspect_studies

OK, WARN, FAIL = "ok", "warn", "fail"
LOW_DISK, NO_DISK = 1e9, 50e6  # bytes
LOW_MEMORY = 0.75e9  # bytes per core: a worker needs half a gigabyte
SKEW_SECONDS = 5.0


@dataclass(frozen=True)
class Check:
    """A check and its finding; `cure` says what to do unless it is ok."""

    name: str
    state: str  # ok | warn | fail
    found: str
    cure: str = ""


def examine(store: str, address: str | None, damage: list[Finding]) -> Iterator[Check]:
    """Yields all checks, the slow ones (Ray) last; adds the store's damage to `damage`."""
    checks: list[tuple[str, Callable[[], Check]]] = [
        ("python", check_python),
        ("packages", check_packages),
        ("machine", check_machine),
        ("clock", check_clock),
        ("kernel cache", check_cache),
        ("store", lambda: check_store(store)),
        ("content", lambda: check_content(store, damage)),
        ("ray", lambda: check_ray(address)),
    ]
    for name, check in checks:
        try:
            yield check()
        except UserError as error:
            found, _, cure = str(error).partition("; ")
            yield Check(name, FAIL, found, cure)
    yield from check_workers(address)


def check_workers(address: str | None) -> Iterator[Check]:
    """Yields a check per machine of the cluster: whether it has the same code; none if no cluster is named."""
    cluster = address or os.environ.get("RAY_ADDRESS")
    cure = f"install Turnier {release()} there, with the same packages"
    with contextlib.suppress(UserError):  # no cluster: the check of Ray says so
        for name, wrong in (examined(cluster) if cluster else {}).items():
            yield (
                Check(f"worker {name}", FAIL, wrong, cure)
                if wrong
                else Check(f"worker {name}", OK, "has the same code")
            )


def check_python() -> Check:
    required, found = metadata.metadata("turnier")["Requires-Python"], platform.python_version()
    if SpecifierSet(required).contains(found, prereleases=True):
        return Check("python", OK, found)
    return Check("python", FAIL, f"{found}, but {required} is required", "install another Python, then Turnier again")


def check_packages() -> Check:
    """Compares the installed packages with the declared requirements."""
    wrong, required = [], 0
    for line in metadata.requires("turnier") or []:
        needed = Requirement(line)
        if needed.marker and not needed.marker.evaluate({"extra": ""}):
            continue
        required += 1
        try:
            found = metadata.version(needed.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{needed.name} is missing")
            continue
        if not needed.specifier.contains(found, prereleases=True):
            wrong.append(f"{needed.name} {found}, but {needed.specifier} is required")
    if wrong:
        return Check("packages", FAIL, "; ".join(wrong), "reinstall Turnier, which installs them")
    return Check("packages", OK, f"turnier {release()}, {required} packages as required")


def check_machine() -> Check:
    cores, memory = os.cpu_count() or 1, memory_bytes()
    found = f"{cores} cores, {memory / 1e9:.1f} GB, {cpu_model() or platform.machine()}"
    if memory and memory < LOW_MEMORY * cores:
        return Check("machine", WARN, found, "use fewer --workers: each Ray worker takes half a gigabyte")
    return Check("machine", OK, found)


def check_clock() -> Check:
    """A clock that is earlier than the installation is wrong; results do not depend on it, but the dates of runs do."""
    installed, now = Path(__file__).stat().st_mtime, time.time()
    found = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
    if now < installed - 86400:
        return Check("clock", WARN, f"{found}, before this Turnier was installed", "set the clock")
    return Check("clock", OK, found)


def check_cache() -> Check:
    """Reports the folder of compiled kernels, and whether it has any."""
    if not JIT:
        return Check("kernel cache", WARN, "kernels are not compiled", "unset NUMBA_DISABLE_JIT")
    folder = Path(play_many.stats.cache_path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as failure:
        return Check("kernel cache", FAIL, f"{folder}: {failure}", "set NUMBA_CACHE_DIR to a writable folder")
    if not any(folder.glob("play_kernel.play_many-*.nbc")):
        return Check("kernel cache", WARN, f"{folder} is empty", "the first command compiles for some ten seconds")
    return Check("kernel cache", OK, f"{folder} is warm")


def check_store(url: str) -> Check:
    """Opens the store without changing anything."""
    try:
        database = Database(url, read_only=True)
    except UserError as failure:
        path = sqlite_file(url)
        if isinstance(failure, NoResults) and path is None:
            return Check("store", OK, "the database answers; it has no results yet")
        if path is None or path.exists():
            raise
        return _with_room("does not exist yet", path)
    try:
        if database.is_sqlite:
            return _with_room("opens", Path(database.place.removeprefix("the results database ")))
        with database.reading() as connection:
            may = connection.scalar(text("SELECT has_table_privilege('matches', 'INSERT')"))
            skew = abs(clock(connection) - time.time())
    finally:
        database.close()
    if not may:
        return Check(
            "store", FAIL, f"{database.place} is read-only for this user", "grant INSERT, UPDATE and DELETE on it"
        )
    if skew > SKEW_SECONDS:
        return Check("store", WARN, f"{database.place}: its clock differs from ours by {skew:.0f} s", "set the clocks")
    return Check("store", OK, f"{database.place} opens and is writable")


def check_content(url: str, damage: list[Finding]) -> Check:
    """Examines every row of a store (see `results/repair`) and the candidates of studies."""
    path = sqlite_file(url)
    if path is not None and not (path.exists() and path.stat().st_size):
        return Check("content", OK, "nothing is stored yet")
    try:
        with game_bar("looking at games", 0) as bar:
            damage += inspect_store(url, bar.reached)
        with contextlib.suppress(Damaged), contextlib.closing(Store.open(url, read_only=True)) as store:
            damage += inspect_studies(store)
    except NoResults:
        return Check("content", OK, "nothing is stored yet")
    if damage:
        cure = "add --repair, which makes a copy first" if path else "restore it from a backup"
        return Check("content", FAIL, f"{len(damage)} findings in {path or 'the database'}", cure)
    return Check("content", OK, "everything is as it was stored")


def _with_room(found: str, path: Path) -> Check:
    free = shutil.disk_usage(path.parent).free
    found = f"{path} {found}, {free / 1e9:.1f} GB free"
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        return Check("store", FAIL, f"{found}, not writable", "fix its permissions or name another store with --store")
    if free < LOW_DISK:
        state = FAIL if free < NO_DISK else WARN
        return Check("store", state, found, "free some space; a million short games take 0.5 GB")
    return Check("store", OK, f"{found}, writable")


def check_ray(address: str | None) -> Check:
    """Starts Ray here, or joins the cluster, and runs a task on a worker."""
    began = time.perf_counter()
    actors = RayActors(1, address)
    try:
        if not (actors.workers or actors.size()[1]):
            return Check("ray", FAIL, *actors.missing())
        ref = actors.send(_task, 20)
        found = dict(actors.wait([ref])).get(ref)
        nodes, cpus = actors.size()
    finally:
        actors.close()
    where = "started here" if actors.address == "local" else f"cluster at {actors.address}: {nodes} nodes, {cpus} CPUs"
    if found != 21:
        return Check("ray", FAIL, f"{where}, but a task returned {found!r}", "read the logs in /tmp/ray")
    return Check("ray", OK, f"{where}, a task ran after {time.perf_counter() - began:.1f} s")


def _task(number: int) -> int:
    return number + 1
