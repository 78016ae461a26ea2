"""Programs say what they are: another answer from the same files is refused, since something else runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from turnier.agents.engines import engine
from turnier.agents.engines.json_lines import Json
from turnier.agents.engines.pool import end_idle_programs
from turnier.core.errors import UserError
from turnier.games.registry import game_of

PROGRAM = """
import json, pathlib, sys
for line in sys.stdin:
    if "hello" in line:
        print(json.dumps({"type": "ready", "protocol": 1, "version": pathlib.Path("version").read_text()}), flush=True)
"""


def test_what_a_program_says_of_itself_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bot.py").write_text(PROGRAM)
    for version, refused in (("1", False), ("1", False), ("2", True)):
        (tmp_path / "version").write_text(version)
        end_idle_programs()
        monkeypatch.setattr(engine, "_prepared", set())  # as in another process
        agent = Json(command=f"{sys.executable} bot.py")
        if refused:
            with pytest.raises(UserError, match="calls itself '2' now and '1' before, with the same files"):
                agent.prepare(game_of("tictactoe"))
        else:
            agent.prepare(game_of("tictactoe"))
    end_idle_programs()
