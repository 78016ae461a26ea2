"""Files of weights that are damaged or made to harm: one sentence that names the file, whatever reads it."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from turnier.agents.ntuple.weights import Weights, load_weights, read_config
from turnier.agents.spe_ed.q_learning import Learning, QTraining, read_table
from turnier.commands.app import app
from turnier.core.array_files import read_arrays
from turnier.core.errors import UserError

OLD = Path(__file__).parents[1] / "data" / "stores" / "version_0_1_0.npz"  # without a checksum
Change = Callable[[dict[str, Any]], object]


class Canary:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Weights of today, with a checksum."""
    load_weights(OLD).save(tmp_path / "w.npz")
    return tmp_path / "w.npz"


def refused(path: Path) -> str:
    """Returns the sentence with which a command that plays refuses the file; training and loading refuse it too."""
    words = (
        ("play", "tictactoe", f"greedy(evaluator=ntuple(file={path}))", "random"),
        ("train", "tictactoe", "ntuple(tuples=8,length=4)", "--games", "300", "--every", "100", "--out", str(path),
         "--store", f"sqlite:///{path.with_suffix('.db')}"),
    )  # fmt: skip
    content = path.read_bytes()
    sentences = []
    for command in words:
        ended = CliRunner().invoke(app, list(command))
        assert isinstance(ended.exception, UserError), (command, ended.output, ended.exception)
        sentences.append(str(ended.exception))
    assert path.read_bytes() == content, "what is damaged must stay as it is"
    with pytest.raises(UserError) as caught:
        load_weights(path)
    for sentence in (*sentences, str(caught.value)):
        assert "\n" not in sentence and str(path) in sentence and "; " in sentence and sentence.endswith(".")
    return str(caught.value)


def rewritten(path: Path, change: Change) -> Path:
    """Changes arrays and the description (under "config", as JSON data) and writes the archive anew, sound as such."""
    with np.load(path, allow_pickle=False) as stored:
        arrays: dict[str, Any] = dict(stored)
    arrays["config"] = json.loads(str(arrays["config"]))
    change(arrays)
    if "config" in arrays:
        arrays["config"] = np.array(json.dumps(arrays["config"]))
    np.savez(path, **arrays)
    return path


def test_undamaged_files_load_with_and_without_a_checksum(path: Path) -> None:
    assert "checksum" not in read_config(OLD) and len(read_config(path)["checksum"]) == 32
    old, new = load_weights(OLD), load_weights(path)
    assert old.digest == new.digest and np.array_equal(old.entries, new.entries) and old.training == new.training


def set_in(*keys: Any, value: Any) -> Change:
    def change(arrays: dict[str, Any]) -> None:
        place: Any = arrays
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def drop(*keys: str) -> Change:
    def change(arrays: dict[str, Any]) -> None:
        place: Any = arrays
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_in("entries", 3, 0, value=7.5), "must have the digest"),
        (set_in("entries", 3, 1, value=7.5), "differ from their checksum"),
        (set_in("curve", 0, 2, value=7.5), "differ from their checksum"),
        (set_in("config", "training", "done", value=201), "differ from their checksum"),
        (set_in("config", "initial", value=1.5), "must have the digest"),
        (set_in("config", "initial", value="1"), "initial is '1'"),
        (set_in("config", "training", "moves", value=None), "moves is None"),
        (set_in("config", "training", "points", value=[[1]]), "cannot reshape"),
        (set_in("config", "training", "learning", value="no"), "no learning named 'no'"),
        (set_in("config", "network", "game", value="bridge"), "no game named 'bridge'"),
        (set_in("config", "network", "tuples", value=[[0, 99]]), "from 0 to 8"),
        (set_in("config", "network", "tuples", value=[]), ""),
        (set_in("config", "network", "tuples", value=[[0.0]]), "does not fit tictactoe"),
        (set_in("config", "network", "phases", value=10**9), "does not fit tictactoe"),
        (set_in("config", "network", "symmetries", value=[[0] * 9]), "does not fit tictactoe"),
        (set_in("config", "network", value=[]), ""),
        (set_in("config", value="text"), ""),
        (drop("config", "training"), "'training' is missing"),
        (drop("config", "training", "done"), "'done' is missing"),
        (drop("config", "digest"), "'digest' is missing"),
    ],
)
def test_an_odd_description_or_changed_numbers(path: Path, change: Change, reason: str) -> None:
    with pytest.raises(UserError) as caught:
        load_weights(rewritten(path, change))
    sentence = str(caught.value)
    assert sentence.startswith("weights must be an undamaged .npz file, got ") and reason in sentence
    assert str(path) in sentence and sentence.endswith(".") and "restore it from a copy" in sentence


@pytest.mark.parametrize("entry", ["config", "places", "entries", "curve"])
def test_missing_entries(path: Path, entry: str) -> None:
    assert f"the entry {entry} is missing" in refused(rewritten(path, drop(entry))) or entry == "config"


@pytest.mark.parametrize("change", [{"places": -1}, {"places": 1 << 40}, {"entries": np.zeros((3, 3), np.float32)}])
def test_entries_that_are_not_those_of_the_network(path: Path, change: dict[str, Any]) -> None:
    """Kernels would read and write outside of the table: such a file is refused even with right checksums."""
    sound = load_weights(path)
    arrays = {"places": sound.places.copy(), "entries": sound.entries, "curve": sound.curve}
    if isinstance(change.get("places"), int):
        arrays["places"][-1 if change["places"] > 0 else 0] = change["places"]
    else:
        arrays |= change
    Weights(sound.network, sound.initial, training=sound.training, **arrays).save(path)
    assert "their entries are not those of their network" in refused(path)


def test_every_flipped_bit_of_the_numbers_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("entries.npy")
    first = entry.header_offset + 200
    for place in range(first, first + entry.file_size - 200, 997):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        with pytest.raises(UserError, match="Bad CRC-32"):
            load_weights(path)


def test_empty_and_truncated_files_and_other_kinds(path: Path) -> None:
    data = path.read_bytes()
    for content in (b"", data[:100], data[: len(data) // 2], data[:-1], b"text", b"\x80\x04\x95", bytes(10_000)):
        path.write_bytes(content)
        assert "must be an undamaged .npz file" in refused(path)


def test_pickles_are_never_unpickled(path: Path, tmp_path: Path) -> None:
    canary = tmp_path / "unpickled"
    path.write_bytes(pickle.dumps(Canary(canary)))
    refused(path)
    for entry in ("config", "places"):
        load_weights(OLD).save(path)
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        np.savez(path, allow_pickle=True, **(arrays | {entry: np.array(Canary(canary), object)}))
        with pytest.raises(UserError, match="holds pickled objects"):
            load_weights(path)
    assert not canary.exists()
    pickle.loads(pickle.dumps(Canary(canary)))
    assert canary.exists(), "the canary itself works"


def bomb(path: Path, shape: str, compressed: bool) -> None:
    """Makes the entries of an archive claim, or unpack to, more than the archive has."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    if shape:
        header = (
            contents["entries.npy"][:128].replace(b"(429, 3)", shape.encode()).replace(b" " * (len(shape) - 8), b"")
        )
        contents["entries.npy"] = header.ljust(127)[:127] + b"\n" + contents["entries.npy"][128:]
    if compressed:
        file = io.BytesIO()
        np.save(file, np.zeros((1 << 22, 3), np.float32))
        contents["entries.npy"] = file.getvalue()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("shape", "compressed", "reason"),
    [
        ("(999999999999, 3)", False, "does not have the size of its shape"),
        ("(429, -3)", False, ""),
        ("", True, "claim to have"),
    ],
)
def test_bombs(path: Path, shape: str, compressed: bool, reason: str) -> None:
    bomb(path, shape, compressed)
    assert reason in refused(path)


def test_archives_of_version_2_and_missing_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive, archive.open("x.npy", "w") as file:
        np.lib.format.write_array(file, np.zeros(3), version=(2, 0))
    with pytest.raises(ValueError, match="of version"):
        read_arrays(tmp_path / "a.npz", ("x",), 1 << 20)
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "none.npz", ("x",), 1 << 20)


def test_tables_of_q_learning(tmp_path: Path) -> None:
    file = tmp_path / "q.npz"
    QTraining(Learning(bits=4, games=0), file).save()
    table, stored = read_table(file)
    assert table.shape == (16, 5) and stored["done"] == 0
    sound = file.read_bytes()
    with np.load(file) as arrays:
        content = dict(arrays)
    for change in (
        {"table": np.zeros((15, 5), np.float32)},
        {"table": np.zeros((16, 5))},
        {"table": np.float32(1)},
        {"window": np.int64(10**9)},
        {"window": np.array("5")},
        {"done": np.int64(-1)},
        {"rng": np.zeros(1, np.uint64)},
        {"learning": np.zeros(2)},
    ):
        np.savez_compressed(file, **(content | change))
        with pytest.raises(UserError, match=r"undamaged, got .*q\.npz: .*restore it from a copy"):
            read_table(file)
    for place in range(0, len(sound), 7):
        file.write_bytes(sound[:place] + bytes([sound[place] ^ 4]) + sound[place + 1 :])
        with contextlib.suppress(UserError):
            assert np.array_equal(read_table(file)[0], table)
    shutil.copy(OLD, file)
    with pytest.raises(UserError, match="the entry table is missing"):
        read_table(file)
