"""Pickles and copies refer to kernels by their names: an address is another one in another process."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.core.pickled_kernels import done_by, holders
from turnier.agents.registry import make_agent
from turnier.core.compilation.cache import cache_directory
from turnier.core.outside import classes, library
from turnier.core.outside.trust import trust
from turnier.games.registry import make_game

ROOT = Path(__file__).resolve().parents[2]


def done_elsewhere(pickles: dict[str, bytes], folder: Path, **variables: str) -> Any:
    """Returns what another process does with pickles."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])} | variables
    command = [sys.executable, "-m", "tests.core.pickled_kernels"]
    run = subprocess.run(command, input=pickle.dumps(pickles), env=environment, capture_output=True, cwd=folder)
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


def test_another_process_and_copies_do_the_same(tmp_path: Path) -> None:
    found = dict(holders())
    pickles = {name: pickle.dumps(holder) for name, holder in found.items()}
    copies = {name: copy.deepcopy(holder) for name, holder in found.items()}
    here = {name: done_by(name, holder) for name, holder in found.items()}
    del found  # copies must not need the memory of the first
    assert {name: done_by(name, holder) for name, holder in copies.items()} == here
    assert done_elsewhere(pickles, tmp_path) == here


BOT = """
from dataclasses import dataclass
from typing import ClassVar
from turnier.agents.abi import ACT, VISITS
from turnier.agents.agent import CompiledAgent
from turnier.core.kernel import kernel

@kernel(ACT)
def act(game, evaluator, settings, state, returns, rng, root):
    root[VISITS, 0] = 99.0
    return game.to_move(state)

@dataclass(frozen=True)
class Bot(CompiledAgent):
    act_kernel: ClassVar = act

    def draws_numbers(self, game):
        return False
"""


def test_kernels_of_a_users_file_are_found_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "_known", {})
    monkeypatch.setattr(classes, "_classes", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)
    trust()
    game = make_game("tictactoe")
    player = make_agent("bot.py:Bot").start(game, 0, 1)
    pickled = {"bot": pickle.dumps((player, game.start()))}
    (tmp_path / "bot.py").unlink()
    known = {"NUMBA_CACHE_DIR": str(cache_directory().parent)}
    assert done_elsewhere(pickled, tmp_path, **known) == {"bot": [0, 99.0, *[0.0] * 8]}
