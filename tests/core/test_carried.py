"""Files that agents name, on a machine that does not have them: what a driver sends, and what a worker makes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.deep.test_network import drawn_weights, network
from tests.core.test_files import BOT, write
from tests.core.test_outside import user  # noqa: F401  a folder to work in, and a user whom no code is known to
from turnier.agents.deep.network import Weights
from turnier.agents.registry import make_agent
from turnier.arena.workers.cluster import luggage
from turnier.arena.workers.cluster.luggage import Luggage, Packing, unpack
from turnier.core.errors import UserError
from turnier.core.outside import carried
from turnier.games.registry import make_game

GAME = "2048(size=3)"


class Store:
    """Keeps objects as Ray does, by reference."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def put(self, value: Any) -> int:
        self.objects.append(value)
        return len(self.objects) - 1


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> Store:
    store = Store()
    monkeypatch.setattr(luggage, "_get", store.objects.__getitem__)
    monkeypatch.setattr(luggage, "PART", 1000)
    monkeypatch.setattr(carried, "_typed", {})
    return store


@pytest.fixture
def learned(user: Path) -> Path:  # noqa: F811
    shape = network(make_game(GAME))
    Weights(shape, drawn_weights(shape), {"done": 3}).save(user / "w.npz")
    return user / "w.npz"


@pytest.fixture
def on_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Returns what makes this process one of another machine, and returns its cache."""

    def become() -> Path:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
        for name in ("_typed", "_here"):
            monkeypatch.setattr(carried, name, {})
        return tmp_path / "another" / "turnier" / "carried"

    return become


def packed(text: str, objects: Store | None) -> Luggage:
    return Packing(objects).of([GAME, text])


def test_weights_play_on_a_machine_that_has_them_nowhere(
    learned: Path, objects: Store, on_worker: Callable[[], Path]
) -> None:
    agent, position = make_agent("dqn(file=w.npz)"), make_game(GAME).start(5)
    expected, text, sent = agent.start(make_game(GAME)).act(position).action, agent.full_text(), learned.read_bytes()
    assert text.startswith("dqn(file=w.npz,digest=")
    goods = packed(text, objects)
    assert len(objects.objects) == -(-len(sent) // 1000) > 1 and packed(text, objects).files[0][0] == goods.files[0][0]
    learned.unlink()
    cache = on_worker()
    with pytest.raises(UserError, match=r"must be a file, got .*elsewhere/w.npz, which is not one"):
        make_agent(text).start(make_game(GAME))
    unpack(goods)
    (kept,) = cache.glob("*/w.npz")
    assert kept.read_bytes() == sent and kept.parent.name == hashlib.sha256(sent).hexdigest()
    there = make_agent(text)
    assert there.full_text() == text and there.start(make_game(GAME)).act(position).action == expected


def test_a_file_is_sent_once_whatever_the_batches(learned: Path, objects: Store) -> None:
    packing, text = Packing(objects), make_agent("dqn(file=w.npz)").full_text()
    first = packing.of([GAME, text])
    learned.write_bytes(b"another network, which this text does not stand for")
    assert packing.of([text, GAME]) == first and packing.of([GAME, "random"]).files == []


def test_where_the_path_has_the_content_nothing_is_fetched(
    learned: Path, objects: Store, on_worker: Callable[[], Path]
) -> None:
    text = make_agent("dqn(file=w.npz)").full_text()
    for goods in (packed(text, objects), packed(text, None)):
        assert goods.files[0][0].path == str(learned)
    objects.objects.clear()
    cache = on_worker()
    unpack(goods)
    assert carried.path_of("w.npz") == str(learned) and not cache.exists()
    make_agent(text).start(make_game(GAME))


def test_other_content_under_the_path_or_in_the_cache_never_plays(
    learned: Path, objects: Store, on_worker: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    goods, sent = packed(make_agent("dqn(file=w.npz)").full_text(), objects), learned.read_bytes()
    learned.write_bytes(bytes(len(sent)))
    cache = on_worker()
    unpack(goods)
    (kept,) = cache.glob("*/w.npz")
    kept.write_bytes(bytes(len(sent)))
    monkeypatch.setattr(carried, "_here", {})
    unpack(goods)
    assert kept.read_bytes() == sent and carried.path_of("w.npz") == str(kept)
    monkeypatch.setattr(carried, "_here", {})
    kept.unlink()
    objects.objects[:] = [b"cut"] * len(objects.objects)
    with pytest.raises(UserError, match=r"^w.npz must arrive as it was sent, got other content"):
        unpack(goods)


def test_a_large_file_must_be_on_every_machine(
    learned: Path, objects: Store, on_worker: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carried, "LARGEST", 100)
    goods, aside = packed(make_agent("dqn(file=w.npz)").full_text(), objects), learned.with_suffix(".aside")
    learned.rename(aside)
    on_worker()
    with pytest.raises(
        UserError, match=rf"^w.npz must be on every machine, .* of more than 100 .* copy it to {learned}"
    ):
        unpack(goods)
    aside.rename(learned)
    unpack(goods)
    assert carried.path_of("w.npz") == str(learned) and not objects.objects


def test_files_of_others_parameters_travel_too(
    user: Path,  # noqa: F811
    objects: Store,
    on_worker: Callable[[], Path],
) -> None:
    (user / "bot.py").write_text(
        f"{BOT}# another version than that of other tests, whose files this process may know\n"
    )
    write(user / "weights.json", 7)
    text = make_agent("bot.py:Bot").full_text()
    goods = packed(text, objects)
    (user / "weights.json").unlink()
    on_worker()
    with pytest.raises(UserError, match="must be a file on this machine"):
        make_agent(text).file_path("weights")
    unpack(goods)
    (arrived,) = carried.arrived()
    found = make_agent(text).file_path("weights")
    assert found == Path(arrived.path) and json.loads(found.read_text())[7] == 1.0
