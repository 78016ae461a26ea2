"""Texts in a store, a file or an engine's answer cannot control the terminal of who looks at them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.running import Ended, end_of_command
from tests.results.made import made
from turnier.arena.match import Termination
from turnier.results.store.annotations import NOTE
from turnier.results.store.store import Store

PLANTED = "\x1b[2J\x07\r\x9b1m\u202e\u2066"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
AGENTS = ("random", "mc(iterations=5)")
COMMANDS = (
    ("runs",),
    ("runs", "--json"),
    ("show",),
    ("show", "--json"),
    ("show", "last"),
    ("runs", "note", "last"),
    ("runs", "rename", "last", f"other{PLANTED}", "--yes"),
    ("runs", "note", "last", f"other{PLANTED}"),
    ("show", "MATCH"),
    ("show", f"no{PLANTED}"),
    ("show", "last", "--out", "games.pgn"),
    ("show", "last", "--out", "games.csv"),
    ("check", "planted.jsonl", "--game", "tictactoe"),
    ("doctor", "--repair"),
    pytest.param(("show", "last", "--html", "--out", "."), marks=pytest.mark.long),
    ("show", f"bot{PLANTED}.py:Bot"),
    ("tournament", "--resume", "last"),
    ("tournament", "tictactoe", "random", f"no{PLANTED}", "--games", "2"),
    ("move", "chess", "alphabeta(depth=1)", "--position", f"k{PLANTED}"),
    ("check", "ENGINE", "--protocol", "uci"),
    ("runs", "delete", "last", "--yes"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, records and an engine, all of them with planted texts."""
    folder = tmp_path_factory.mktemp("planted")
    with Store.open(f"sqlite:///{folder}/turnier.db") as store:
        kind = f"run{PLANTED}\nno run"
        store.begin_run(kind, "tournament", f"name{PLANTED}\n[bold]name", {"agents": list(AGENTS)})
        failed = {"termination": Termination.CRASHED, "error": f"seat 0: ValueError: {PLANTED}"}
        records = [made(seed, (-1.0, 1.0), AGENTS, "tictactoe", **(failed if seed else {})) for seed in (0, 1, 4)]
        records.append(made(8, (1.0, -1.0), (f"bot{PLANTED}", "random"), "tictactoe"))
        store.append(kind, records)
        store.annotations.set(kind, NOTE, f"note{PLANTED}\nnote")
        (folder / "match").write_text(records[1].spec.id)
    (folder / "planted.jsonl").write_text(json.dumps({"game": PLANTED, "note": PLANTED}) + f"\n{PLANTED}\n")
    answer = f"id name {PLANTED}\nid author {PLANTED}\n{PLANTED}\nuciok"
    (folder / "engine.py").write_text(f"while input() != 'quit':\n    print({answer!r}, flush=True)\n")
    return folder


def test_what_is_planted_is_shown_as_symbols_in_its_own_line(folder: Path) -> None:
    ended: Ended = end_of_command("runs", folder=folder)
    assert "␛[2J␇␍\\u009b1m\\u202e\\u2066␊[bold]name" in ended.printed.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]).encode("ascii", "ignore").decode())
def test_no_control_character_is_printed(words: tuple[str, ...], folder: Path) -> None:
    names = {"MATCH": (folder / "match").read_text()[:12], "ENGINE": f"uci: {sys.executable} engine.py"}
    ended = end_of_command(*(names.get(word, word) for word in words), folder=folder)
    assert not FORBIDDEN.search(ended.printed + ended.errors), ended
    assert "Traceback" not in ended.errors
