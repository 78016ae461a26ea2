"""`turnier show`: from the store, logs and recorded games; into the terminal, GIFs and official logs."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from typer.testing import CliRunner

from tests.playing import played
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.match_json import to_json
from turnier.arena.play import play_match
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.dashboards.figures.animation import frames, write_mp4
from turnier.games.registry import make_game
from turnier.games.spe_ed.messages import message_of
from turnier.results.store.store import Store
from turnier.server.finished_game import find_game
from turnier.server.spe_ed.official_log import read_log, rounds_of

RECORDS = Path(__file__).resolve().parents[1] / "data/spe_ed/official_server_games.jsonl.gz"


@pytest.fixture(scope="module")
def record() -> MatchRecord:
    return play_match(MatchSpec("spe_ed(width=12,height=9,players=3,silence=false)", ("basic",) * 3, 3))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, record: MatchRecord) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('replay')}/t.db"
    with Store.open(url) as results:
        results.begin_run("tournament:1", "tournament", "t", {})
        chess = play_match(MatchSpec("tictactoe", ("random", "random"), 1))
        results.append("tournament:1", [record, chess])
    return url


def run(*words: str) -> str:
    shown = CliRunner().invoke(app, ["show", *words])
    assert shown.exit_code == 0, shown.output + repr(shown.exception)
    return shown.output


def test_the_terminal_shows_every_round(store: str, record: MatchRecord) -> None:
    shown = run(record.spec.id[:8], "--store", store)
    rounds = int(record.facts["rounds"])
    assert [f"round {n}\n" in shown for n in range(rounds + 1)] == [True] * (rounds + 1)
    assert shown.rstrip().splitlines()[-3:] == [f"seat {n}: basic, {s:g}" for n, s in enumerate(record.scores)]


def test_an_official_log_holds_the_same_game(store: str, record: MatchRecord, tmp_path: Path) -> None:
    path, picture = tmp_path / "game.json", tmp_path / "end.svg"
    for out in (path, picture):
        run(record.spec.id, "--store", store, "--out", str(out))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["1"] == {"APIKey": "", "Pseudonym": record.spec.agents[0], "AI": True}
    assert all(line["running"] for line in lines[1:-1]) and not lines[-1]["running"]
    assert [line["you"] for line in lines[1:]] == [0] * (len(lines) - 1)
    assert lines[-1]["players"]["1"]["name"] == "basic"
    assert [message_of(s) for s in read_log(path)[1]] == [message_of(s) for s in rounds_of(record)]
    assert f"round {int(record.facts['rounds'])}\n" in run(str(path))
    assert picture.read_text().startswith("<svg")


def test_a_picture_of_a_move_shows_what_its_agent_knew(tmp_path: Path, store: str) -> None:
    agents = ("combi(rollouts=50,nodes=200,table_nodes=500)", "rollouts(rollouts=50)")
    file, picture = tmp_path / "games.jsonl", tmp_path / "move.svg"
    file.write_text(json.dumps(to_json(played("spe_ed(width=12,height=12)", *agents, seed=4))) + "\n")
    shown = []
    for move in ("1", "2"):
        run(f"{file}:1", "--out", str(picture), "--overlay", move)
        shown.append(picture.read_text())
    assert ["entered by others" in svg for svg in shown] == [True, False] and all("polyline" in svg for svg in shown)
    chess = find_one(store, "tictactoe")
    wrong = {(f"{file}:1", "999"): "a move must be 1..", (chess, "1"): "an agent that shows its knowledge, got random"}
    for (match, move), sentence in wrong.items():
        told = CliRunner().invoke(app, ["show", match, "--store", store, "--out", str(picture), "--overlay", move])
        assert told.exit_code and isinstance(told.exception, UserError) and sentence in str(told.exception)
    assert "add --out FILE.svg" in str(CliRunner().invoke(app, ["show", f"{file}:1", "--overlay", "1"]).exception)


def find_one(store: str, game: str) -> str:
    """Returns the id of a match of a game."""
    with Store.open(store) as results:
        records = [record for part in results.records_of_run("tournament:1") for record in part]
    return next(record.spec.id for record in records if record.spec.game.startswith(game))


@pytest.mark.parametrize("game", ["spe_ed", "tictactoe"])
def test_a_gif_has_a_frame_for_each_position(store: str, game: str, tmp_path: Path) -> None:
    one, path = find_one(store, game), tmp_path / "game.gif"
    run(one, "--store", store, "--out", str(path))
    states = find_game(one, store).states
    with Image.open(path) as image:
        assert image.n_frames == len(states) > 3
        image.seek(len(states) - 1)
        first, *_, last = frames(find_game(one, store).game, states)
        pixels = pixels_of(image.convert("RGB"))
        assert np.abs(pixels - pixels_of(last)).mean() < 3 < np.abs(pixels - pixels_of(first)).mean()


def pixels_of(image: Image.Image) -> npt.NDArray[np.int64]:
    return np.asarray(image).astype(int)


@pytest.mark.parametrize(("side", "delay"), [(12, 0.15), (33, 0.05)])
def test_a_video_has_a_frame_for_each_position_and_even_sides(side: int, delay: float, tmp_path: Path) -> None:
    made = play_match(MatchSpec(f"spe_ed(width={side},height=21,players=2,silence=false)", ("basic",) * 2, 5))
    file, path = tmp_path / "games.jsonl", tmp_path / "game.mp4"
    file.write_text(json.dumps(to_json(made)) + "\n")
    run(f"{file}:1", "--out", str(path), "--delay", str(delay))
    states = rounds_of(made)
    first, *_, wanted = frames(make_game(made.spec.game), states)
    with av.open(str(path)) as video:
        stream = video.streams.video[0]
        shown = list(video.decode(stream))
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
    assert [frame.time for frame in shown] == pytest.approx([delay * n for n in range(len(states))]) and len(states) > 3
    assert (shown[0].width, shown[0].height) == tuple(size + size % 2 for size in wanted.size)
    pixels = shown[-1].to_ndarray(format="rgb24")[: wanted.height, : wanted.width].astype(int)
    assert np.abs(pixels - pixels_of(wanted)).mean() < 4 < np.abs(pixels - pixels_of(first)).mean()


def test_a_video_of_another_game_and_where_none_can_be(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chess = find_one(store, "tictactoe")
    run(chess, "--store", store, "--out", str(tmp_path / "t.mp4"))
    played = find_game(chess, store)
    with av.open(str(tmp_path / "t.mp4")) as video:
        assert len(list(video.decode(video=0))) == len(played.states)
    with pytest.raises(UserError, match="a video must be written to a folder"):
        write_mp4(tmp_path / "no" / "t.mp4", played.game, played.states, 100)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UserError, match=r"pip install 'turnier\[video\]'"):
        write_mp4(tmp_path / "u.mp4", played.game, played.states, 100)


def test_recorded_and_exported_lines(tmp_path: Path, record: MatchRecord, store: str) -> None:
    official = tmp_path / "official.jsonl"
    official.write_bytes(gzip.decompress(RECORDS.read_bytes()))
    first = json.loads(official.read_text().splitlines()[1])
    played = find_game(f"{official}:2", store)
    assert len(played.states) == 1 + len(first["rounds"]) and played.game.full_text().startswith("spe_ed(width=")
    exported = tmp_path / "games.jsonl"
    exported.write_text(json.dumps(to_json(record)) + "\n")
    assert [s.tolist() for s in find_game(f"{exported}:1", store).states] == [s.tolist() for s in rounds_of(record)]


@pytest.mark.parametrize("what", ["abcdef", "FILE:9", "FILE"])
def test_what_is_none_is_a_sentence(what: str, tmp_path: Path, store: str) -> None:
    file = tmp_path / "text"
    file.write_text("no log\n")
    with pytest.raises(UserError, match=r"must be|must hold"):
        find_game(what.replace("FILE", str(file)), store)
