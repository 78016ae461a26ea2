"""Ray workers that never start or play with other code: their machines are left out by name, and not waited for."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from turnier.arena.match import MatchSpec
from turnier.arena.workers.cluster import actors as ray_actors
from turnier.arena.workers.cluster.actors import RayActors
from turnier.arena.workers.cluster.executor import PlainRows, RayExecutor, Result
from turnier.arena.workers.cluster.machines import trial as trials
from turnier.arena.workers.cluster.machines.admission import Admission, difference
from turnier.arena.workers.cluster.machines.nodes import Compiling, Nodes
from turnier.arena.workers.cluster.machines.trial import Trial, trial_of
from turnier.arena.workers.executor import MATCHES, Done, Lost
from turnier.core.compilation.code_digest import release
from turnier.core.compilation.machine import versions
from turnier.core.errors import UserError


class RayError(Exception):
    pass


FAILURE = "The actor died because of an error.\n  Traceback ...\nMemoryError: no room."
NO_TURNIER = RayError("The actor died because of an error.\nModuleNotFoundError: No module named 'turnier'")
OTHER_CODE = {"release": "0.1.0+def5678"}


def shown(node: str, **changes: Any) -> dict[str, Any]:
    return {"node": node, "name": f"{node}/10.0.0.1", "release": release(), "versions": versions(), **changes}


class Actor:
    """A worker on the next free machine of the cluster that Ray may take."""

    def __init__(self, ray: FakeRay, selector: dict[str, str]) -> None:
        refused = next(iter(selector.values()), "!in()")[4:-1].split(",")
        free = [node for node in ray.answers if node not in refused and node not in ray.taken]
        self.node = free[0] if free else ""
        ray.taken.append(self.node)
        self._actor_id = SimpleNamespace(hex=lambda: self.node)
        remote = SimpleNamespace(remote=lambda: SimpleNamespace(future=lambda: self._answer(ray)))
        self.ping = SimpleNamespace(options=lambda **_: remote)

    def _answer(self, ray: FakeRay) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        if isinstance(answer := ray.answers.get(self.node), Exception):
            ray.taken.remove(self.node)
            future.set_exception(answer)
        elif answer:
            future.set_result(answer)
        return future


class FakeRay:
    """A cluster of machines with one CPU each, on which workers answer their first ping, or fail."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.taken = answers, list[str]()
        self.exceptions = SimpleNamespace(RayError=RayError)
        of_actor = lambda actor: {"Address": {"NodeID": actor}}  # noqa: E731
        self._private = SimpleNamespace(state=SimpleNamespace(actors=of_actor))

    def nodes(self) -> list[dict[str, Any]]:
        about = {"Alive": True, "Resources": {"CPU": 1.0}, "NodeManagerAddress": "10.0.0.1"}
        return [{"NodeID": node, "NodeManagerHostname": node, **about} for node in self.answers]

    def kill(self, actor: Actor) -> None:
        self.taken.remove(actor.node)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the actors of a cluster whose machines give these answers."""

    def made(**answers: Any) -> RayActors:
        ray = FakeRay(**answers)

        def connect(self: RayActors) -> None:
            start = SimpleNamespace(
                options=lambda label_selector=None: SimpleNamespace(remote=lambda: Actor(ray, label_selector or {}))
            )
            head = SimpleNamespace(require=lambda: None, is_gone=lambda: True)
            self._ray, self._class, self._local, self._head = ray, start, None, head
            self._nodes = Nodes(self._selection)
            self._compiling, self._shares = Compiling(self._nodes), None

        monkeypatch.setattr(RayActors, "_connect", connect)
        monkeypatch.setattr(ray_actors, "CHECK_SECONDS", 0.0)
        return RayActors(None, "10.0.0.9:6379")

    return made


def test_a_cluster_on_which_no_worker_starts_is_given_up(cluster: Any) -> None:
    with pytest.raises(UserError, match=r"none does: a \(10.0.0.1\) cannot start .*no room\); b \(10.0.0.1\) cannot"):
        cluster(a=RayError(FAILURE), b=RayError(FAILURE))


def test_machines_that_differ_are_left_out_by_name_and_the_others_play(cluster: Any, capsys: Any) -> None:
    """Three codes and two versions of numba."""
    other_numba = {"versions": versions() | {"numba": "0.1.2"}}
    made = cluster(
        a=shown("a", **OTHER_CODE),
        b=shown("b"),
        c=("c", "0.1.0"),
        d=shown("d", **other_numba),
        e=NO_TURNIER,
        f=shown("f"),
    )
    made._check_workers()
    made._admit_started(0.1)
    assert sorted(worker.node for worker in made._ready) == ["b", "f"]
    said = capsys.readouterr().err.splitlines()
    cure = f"it is left out; install Turnier {release()} there, with the same packages."
    assert sorted(said) == [
        f"a (10.0.0.1) plays with other code (0.1.0+def5678, here {release()}): {cure}",
        f"c (10.0.0.1) plays with an earlier Turnier (here {release()}): {cure}",
        f"d (10.0.0.1) has numba 0.1.2 (here {versions()['numba']}): {cure}",
        f"e (10.0.0.1) has no Turnier: {cure}",
    ]
    taken = list(made._ray.taken)
    for _ in range(3):
        made._check_workers()
        made._admit_started(0.0)
    assert made._ray.taken == taken and capsys.readouterr().err == "", "nothing starts there again"


def test_if_all_machines_differ_one_sentence_names_them(cluster: Any, capsys: Any) -> None:
    with pytest.raises(
        UserError, match=r"^a machine .* none does: a \(10.0.0.1\) plays with other .*; b .* no Turnier; "
    ):
        cluster(a=shown("a", **OTHER_CODE), b=NO_TURNIER)
    assert capsys.readouterr().err == ""


def test_the_last_number_of_a_version_of_python_decides_no_games() -> None:
    newer = ".".join([*versions()["python"].split(".")[:2], "99"])
    assert difference(shown("a", versions=versions() | {"python": newer})) == ""
    assert difference(shown("a", versions=versions() | {"python": "4.0.1"})).startswith("has python 4.0 (here ")


def specs(agents: Sequence[str], count: int = 3) -> list[MatchSpec]:
    return [MatchSpec("tictactoe", (one, other), seed) for one in agents for other in agents for seed in range(count)]


def test_a_trial_has_short_games_of_all_that_seeds_decide() -> None:
    trial = trial_of(MATCHES, specs(["random", "mc(iterations=2)", "mcts(milliseconds=1)", "bot.py:Bot@0123456789ab"]))
    assert trial and {spec.agents for spec in trial.specs} == {
        (one, other) for one in ("random", "mc(iterations=2)") for other in ("random", "mc(iterations=2)")
    }
    assert {spec.max_plies for spec in trial.specs} >= {2, 8} and trial.played() == trial.outcomes
    assert trial_of(MATCHES, specs(["mcts(milliseconds=1)"])) is None


def test_a_machine_that_plays_other_games_is_left_out_and_its_games_are_lost(
    cluster: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = cluster(a=shown("a"), b=shown("b"))
    executor = RayExecutor.__new__(RayExecutor)
    executor.actors, executor._trial = made, Trial(MATCHES, [], ["x"])
    executor._batches = {number: (number, []) for number in range(3)}
    nothing = PlainRows.of([])
    assert made.admission.unproven == {"a", "b"}
    assert isinstance(executor._done(0, Result(nothing, {0}, 1.0, "a", ["x"])), Done)
    assert isinstance(executor._done(1, Result(nothing, {0}, 1.0, "b", ["y"])), Lost)
    assert isinstance(executor._done(2, Result(nothing, {0}, 1.0, "b", None)), Lost), "sent before that was known"
    assert made.admission.unproven == set() and [worker.node for worker in made._ready] == ["a"]
    made._admit_started(0.0)
    assert capsys.readouterr().err.startswith("b (10.0.0.1) plays other games with the same code: it is left out; ")


def test_a_process_plays_a_trial_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[int]()
    work = MATCHES._replace(do=lambda some, stop: played.append(len(some)) or [], prepare=lambda some: None)
    trial = Trial(work, specs(["random"]), ["only", "this"])
    monkeypatch.setattr(trials, "_played", {})
    assert [trial.played(), trial.played()] == [[], []] and played == [3]


def test_a_machine_that_has_played_is_not_left_out_for_workers_that_end() -> None:
    admission = Admission("auto")
    assert admission.admits(shown("a"), "a", "a")
    for _ in range(99):
        admission.failed("MemoryError: no room", "a", "a", 5)
    assert not admission.refused
