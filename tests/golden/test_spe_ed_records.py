"""spe_ed against games of the official server, and wrong rules against the same records."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.spe_ed import records as spe_ed_records
from turnier.games.spe_ed.board import ACTIONS, ACTIVE, NO_ANSWER, ROUND
from turnier.games.verify import verify_file

FILE = Path(__file__).parent.parent / "data" / "spe_ed" / "official_server_games.jsonl.gz"
RECORDS = [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]
SHORT = next(record for record in RECORDS if len(record["rounds"]) < 20)
SPE_ED = make_game("spe_ed")


def test_every_round_of_every_game_is_reproduced() -> None:
    assert verify_file(SPE_ED, FILE) == (10, None)
    assert sum(len(record["rounds"]) for record in RECORDS) == 2241
    assert any(None in played["actions"].values() for record in RECORDS for played in record["rounds"])


def changed(change: Callable[[dict[str, Any]], None]) -> str | None:
    record = copy.deepcopy(SHORT)
    change(record)
    return SPE_ED.verify_record(record)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda record: record.update(winner="1"), "the winner must be 1, got 2"),
        (lambda record: record["rounds"].pop(), "the winner must be 2, got None"),
        (lambda record: record["rounds"][3]["actions"].update({"1": "turn_left"}), "after round 4 must be"),
        (lambda record: record["rounds"][3]["actions"].pop("1"), "the players who choose in round 4 must be"),
        (lambda record: record["rounds"][3]["players"]["2"].__setitem__(3, 2), "the players after round 4 must be"),
        (lambda record: record["rounds"][3].update(cells_sha256="0" * 16), "the cells after round 4 must have"),
        (lambda record: record["start"]["1"].update(x=5), "the players after round 1 must be"),
    ],
)
def test_a_wrong_record_is_noticed(change: Callable[[dict[str, Any]], None], says: str) -> None:
    assert says in str(changed(change))


def no_holes(position: Position, actions: dict[str, str | None]) -> Position:
    """The rules without jumps: the rounds are counted from the seventh on."""
    position.state[ROUND] = 7
    return rightly(position, actions)


def no_answer_goes_on(position: Position, actions: dict[str, str | None]) -> Position:
    return rightly(position, {number: action or ACTIONS[-1] for number, action in actions.items()})


def dead_owners(position: Position, actions: dict[str, str | None]) -> Position:
    """Whoever dies takes the first other one along."""
    before = position.state[ACTIVE : ACTIVE + 6].sum()
    after = rightly(position, actions)
    if after.state[ACTIVE : ACTIVE + 6].sum() not in (before, 0):
        living = int(after.state[ACTIVE : ACTIVE + 6].argmax())
        after.state[ACTIVE + living] = 0
    return after


rightly = spe_ed_records.play_round


@pytest.mark.parametrize("wrong", [no_holes, no_answer_goes_on, dead_owners])
def test_wrong_rules_are_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spe_ed_records, "play_round", wrong)
    assert verify_file(SPE_ED, FILE)[1]


def test_a_broken_compressed_file_is_reported(tmp_path: Path) -> None:
    for content in (b"no gzip", FILE.read_bytes()[:1000]):
        broken = tmp_path / "games.jsonl.gz"
        broken.write_bytes(content)
        with pytest.raises(UserError, match="must be readable"):
            verify_file(SPE_ED, broken)


def test_no_answer_is_the_last_action() -> None:
    assert make_game("spe_ed(silence=true)").action_name(NO_ANSWER) == "no_answer"
