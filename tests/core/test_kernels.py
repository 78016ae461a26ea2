"""Kernels do the same compiled and as plain Python, compile once as declared, and come from the cache afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import types as types_of_python
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types
from numba.core.compiler_lock import global_compiler_lock

from turnier.core.compilation.cache import cache_directory, digest_of
from turnier.core.kernel import JIT, kernel, pointer
from turnier.games import abi
from turnier.games.twenty48.game import Twenty48
from turnier.games.twenty48.rules import legal, step

ROOT = Path(__file__).resolve().parents[2]
needs_jit = pytest.mark.skipif(not JIT, reason="function pointers exist only in compiled code")


def start_report(plain: bool, *games: str, **variables: str) -> subprocess.Popen[str]:
    """Starts tests.core.kernel_report in a new process, with compiled kernels or as plain Python."""
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": str(int(plain)),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-m", "tests.core.kernel_report", *games]
    return subprocess.Popen(
        command, env=environment | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish_report(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate()
    assert process.returncode == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("numba")


@pytest.fixture(scope="module")
def reports() -> dict[str, dict[str, Any]]:
    """The reports of plain Python, of a first process, and of a second one, which needs to compile nothing."""
    plain, first = start_report(plain=True), start_report(plain=False)
    done = {"plain": finish_report(plain), "first": finish_report(first)}
    return done | {"second": finish_report(start_report(plain=False))}


@pytest.fixture(scope="module")
def on_an_empty_cache(cache: Path) -> dict[str, Any]:
    """The report of a process that finds no machine code; of one game, since compiling all takes half a minute."""
    return finish_report(start_report(False, "tictactoe", NUMBA_CACHE_DIR=str(cache)))


def test_compiled_and_plain_kernels_agree_bit_for_bit(reports: dict[str, dict[str, Any]]) -> None:
    assert [reports[run]["jit"] for run in ("plain", "first", "second")] == [False, True, True]
    played = {name.partition("@")[0] for name in reports["plain"]["digests"]}
    tiny = {f"tests.contract.tiny_games:{name}" for name in ("Pig", "Wander")}
    assert {"2048", "2048(size=2)", "2048(size=3)", "tictactoe", *tiny} <= played
    assert reports["plain"]["digests"] == reports["first"]["digests"] == reports["second"]["digests"]


def test_that_comparison_calls_every_kernel(reports: dict[str, dict[str, Any]]) -> None:
    uncalled = {name for name, facts in reports["plain"]["kernels"].items() if not facts["called"]}
    assert uncalled == {"turnier.games.in_step.boards.pack_boards"}  # plain Python packs nothing


def test_every_kernel_compiles_as_declared_and_not_otherwise(reports: dict[str, dict[str, Any]]) -> None:
    wrong = {
        name: facts for name, facts in reports["first"]["kernels"].items() if facts["compiled"] != [facts["declared"]]
    }
    assert wrong == {}


def test_a_second_process_compiles_nothing(
    reports: dict[str, dict[str, Any]], on_an_empty_cache: dict[str, Any]
) -> None:
    first, second = on_an_empty_cache["kernels"], reports["second"]["kernels"]
    assert first and all(facts["misses"] > 0 for facts in first.values())
    assert {name: facts for name, facts in second.items() if facts["misses"] or not facts["hits"]} == {}
    assert on_an_empty_cache["digests"].items() <= reports["plain"]["digests"].items()


def test_the_cache_lies_in_a_directory_named_by_the_compiler(
    on_an_empty_cache: dict[str, Any], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    assert list(cache.iterdir()) == [cache_directory()]


SOURCE = """
from numba import types
from typing import NamedTuple
from turnier.core.kernel import kernel
import {other} as other
WIDTH = {width}
TABLE = ({width}, 2)
SIGNATURE = types.int64(types.int64)
class {made}(NamedTuple):
    number: int
MADE = types.NamedTuple([types.int64], {made})
@kernel(SIGNATURE)
def first(x):
    {doc}
    return second(x) + {own}
@kernel(SIGNATURE)
def second(x):
    return x * WIDTH + TABLE[1] + other.HEIGHT  # {comment}
@kernel(SIGNATURE)
def unrelated(x):
    return {unrelated}
@kernel(types.int64(types.FunctionType(types.int64(MADE))), inline={inline})
def takes_class(x):
    return 1
"""


def module_of(source: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types_of_python.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, name, "exec"), vars(module))
    return module


def test_a_kernels_digest_says_what_it_compiles_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants and kernels that a kernel uses change its digest, wherever they are; comments and neighbours do not."""
    usual = {"width": 3, "own": 1, "unrelated": 5, "doc": '"""A docstring."""', "comment": "", "other": "heights"}
    usual |= {"made": "Made", "inline": False}

    def digest(height: int = 7, of: str = "first", **changes: Any) -> str:
        module_of(f"HEIGHT = {height}", "heights", monkeypatch)
        return digest_of(getattr(module_of(SOURCE.format(**usual | changes), "made", monkeypatch), of))

    alike = [digest(), digest(unrelated=6), digest(comment="another"), digest(doc='"""Another one."""')]
    assert len(set(alike)) == 1
    others = [digest(width=4), digest(own=2), digest(height=8)]
    assert len({*alike, *others}) == 4
    # Numba stores the classes of tuples with the machine code, and finds them again by name.
    others = [digest(of="takes_class", **changes) for changes in ({}, {"made": "Renamed"}, {"inline": True})]
    assert len(set(others)) == 3 and digest(made="Renamed") == alike[0]


def test_the_cache_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = cache_directory().name
    for variables, place in (
        ({"NUMBA_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/turnier"),
        ({"HOME": "/c"}, "/c/.cache/turnier"),
    ):
        for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert cache_directory() == Path(place) / digest


def test_other_users_of_numba_keep_their_cache_directory() -> None:
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


def test_a_kernel_of_another_signature_is_refused() -> None:
    with pytest.raises(TypeError, match=r"kernel legal must be declared @kernel\(.*, got .*"):
        pointer(legal, abi.STEP)
    with pytest.raises(TypeError, match="kernel step must be declared"):
        abi.game_kernels(step, legal, legal, step)


@kernel(abi.TO_MOVE)
def to_move_in_halves(state):
    return 0.5


@kernel(abi.TO_MOVE)
def to_move_as_truth(state):
    return state[0] > 0


@needs_jit
@pytest.mark.parametrize("wrong", [to_move_in_halves, to_move_as_truth], ids=["float", "boolean"])
def test_a_kernel_that_returns_another_type_is_refused(wrong: Any) -> None:
    """Compiled callers read what the declared type says, so another type would be read as noise."""
    with pytest.raises(TypeError, match="must return"):
        pointer(wrong, abi.TO_MOVE)


@kernel(types.int64(abi.GAME, abi.State))
def mover_through_pointer(game, state):
    return game.to_move(state)


def test_compiled_code_calls_kernels_through_pointers() -> None:
    game = Twenty48()
    position = game.start(1)
    assert mover_through_pointer(game.kernels, position.state) == position.to_move == 0


@needs_jit
def test_a_pointer_is_made_once_and_can_be_called_from_python() -> None:
    made = pointer(legal, abi.LEGAL)
    assert pointer(legal, abi.LEGAL) is made is Twenty48(size=2).kernels.legal
    assert made.signature() == abi.LEGAL
    out = np.zeros(4, np.int64)
    assert made(Twenty48().position_from_tiles([[2, 0, 0, 0]] + [[0] * 4] * 3), out) == 2
    assert out.tolist() == [1, 3, 0, 0]


def test_optional_kernels_differ_from_their_stand_ins() -> None:
    kernels = Twenty48().kernels
    assert (kernels.has_sample_chance, kernels.has_playout, kernels.has_playouts) == (1, 1, 1)
    assert (kernels.has_observe, kernels.has_forced_win) == (0, 0)


@needs_jit
def test_threads_that_ask_at_once_get_one_entry() -> None:
    """A second entry would free the machine code of the first, which another thread may be running."""

    @kernel(types.int64(types.int64))
    def squared(number):
        return number * number

    arguments = (types.int64,)
    squared.code(arguments)  # as compiled code asks for it: without an entry
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(squared.entry(arguments))) for _ in range(4)]
    with global_compiler_lock:
        for thread in threads:
            thread.start()
        while sum(thread.is_alive() for thread in threads) < len(threads):
            time.sleep(0.001)
        time.sleep(0.05)  # until all of them wait for the lock
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(one is found[0] for one in found) and squared(7) == 49
