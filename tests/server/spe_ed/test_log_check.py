"""Official logs replayed by `turnier check`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.games.spe_ed.messages import message_of
from turnier.games.spe_ed.records import play_round, start_of
from turnier.server.spe_ed.log_check import is_official_log, verify_log
from turnier.server.spe_ed.official_log import encode, final_message, head, write_lines

RECORDS = Path(__file__).resolve().parents[2] / "data/spe_ed/official_server_games.jsonl.gz"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An official log of a game that the official server played."""
    record = json.loads(gzip.decompress(RECORDS.read_bytes()).splitlines()[0])
    position, names = start_of(record), [f"player {number}" for number in record["start"]]
    messages = []
    for played in record["rounds"]:
        messages.append(message_of(position.state))
        position = play_round(position, played["actions"])
    lines = [head(names, [False] * len(names)), *messages, final_message(position.state, names)]
    write_lines(tmp_path / "log.json", map(encode, lines))
    return tmp_path / "log.json"


def changed(log: Path, number: int, old: str, new: str) -> Path:
    lines = log.read_text().splitlines()
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new, 1)
    log.write_text("\n".join(lines))
    return log


def test_every_round_agrees(log: Path) -> None:
    assert is_official_log(log) and not is_official_log(RECORDS)
    assert verify_log(make_game("spe_ed"), log) == (len(log.read_text().splitlines()), None)


def test_a_wrong_player_or_cell_is_named_with_its_line(log: Path) -> None:
    original = log.read_text()
    wrong = verify_log(make_game("spe_ed"), changed(log, 5, '"speed":1', '"speed":2'))[1]
    assert wrong is not None and wrong.startswith("5: the players after round 3 must be")
    log.write_text(original)
    wrong = verify_log(make_game("spe_ed"), changed(log, 6, ",0,", ",-1,"))[1]
    assert wrong == "6: the cells after round 4 must be as the rules leave them."


@pytest.mark.parametrize(
    ("line", "old", "new", "sentence"),
    [
        (4, '"x":', '"x":1000', "player 1 must be on the board with a speed from 1 to 10"),
        (4, '"speed":1', '"speed":9000000', "player 1 must be on the board with a speed from 1 to 10"),
        (6, '"you":0', '"you":2', "must stay as they are during a game"),
    ],
)
def test_what_would_lead_kernels_out_of_the_board_is_refused(
    log: Path, line: int, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        verify_log(make_game("spe_ed"), changed(log, line, old, new))


def test_a_log_without_its_end_and_one_of_another_game(log: Path) -> None:
    log.write_text("\n".join(log.read_text().splitlines()[:-1]))
    wrong = verify_log(make_game("spe_ed"), log)[1]
    assert wrong is not None and wrong.endswith("the last state must be the end of the game.")
    with pytest.raises(UserError, match="got 2048"):
        verify_log(make_game("2048"), log)
