"""The study with real services: optuna-dashboard over HTTP, a Ray cluster started by hand, PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import STUDIES, run_study_script

SCRIPT = STUDIES / "cmaes_heuristics.py"
BIN = Path(sys.executable).parent
TINY = ("--preset", "tiny", "--generations", "1", "--verify", "0.1")


AUTH = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}


def study(folder: Path, *options: str) -> str:
    return run_study_script(SCRIPT, *TINY, "--picture", str(folder), *options, folder=folder)


def study_process(folder: Path, *options: str, **environment: str) -> None:
    """Runs the study in a process of its own, since Ray reads its environment once."""
    command = [sys.executable, str(SCRIPT), *TINY, "--picture", str(folder), *options]
    ended = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_optuna_dashboard_lists_the_study_with_its_trials(tmp_path: Path) -> None:
    study(tmp_path, "--executor", "threads", "--store", "sqlite:///turnier.db")
    port = free_port()
    server = subprocess.Popen(
        [BIN / "optuna-dashboard", "sqlite:///turnier.db", "--port", str(port)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                studies = get(f"http://127.0.0.1:{port}/api/studies")["study_summaries"]
                break
            except OSError:
                time.sleep(0.1)
        found, finalists = studies
        assert found["study_name"] == "cmaes_heuristics-tiny"
        assert finalists["study_name"] == "cmaes_heuristics-tiny, held-out"
        trials = get(f"http://127.0.0.1:{port}/api/studies/{found['study_id']}?after=0")["trials"]
    finally:
        server.terminate()
        server.wait(timeout=30)
    assert len(trials) == 8
    for trial in trials:
        attributes = {a["key"]: a["value"] for a in trial["user_attrs"]}
        facts = attributes["candidate"]
        assert all(name in facts for name in ("generation", "index", "games", "seconds"))
    assert (tmp_path / "cmaes_heuristics-tiny.png").stat().st_size > 10_000


def get(url: str) -> dict[str, list[dict[str, object]]]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: dict[str, list[dict[str, object]]] = json.load(answer)
        return found


@pytest.fixture
def ray_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A head started by hand; yields its address. `auto` finds it even where other tests start Ray meanwhile."""
    folder = tempfile.mkdtemp(prefix="ray")  # its path must be short: Ray makes sockets in it
    monkeypatch.setenv("RAY_TMPDIR", folder)
    port = free_port()
    log = tmp_path / "ray.log"  # not a pipe: the daemons would keep it open
    head = subprocess.Popen(
        [str(BIN / "ray"), "start", "--head", "--block", "--port", str(port), "--num-cpus", "2",
         "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory", str(128 << 20)],
        stdout=log.open("w"), stderr=subprocess.STDOUT, env=os.environ | AUTH,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while "Ray runtime started" not in log.read_text():
            assert head.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        head.terminate()  # with --block, it ends what it started and no other Ray of this machine
        head.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
def test_the_study_joins_a_cluster_started_by_hand(tmp_path: Path, ray_cluster: str) -> None:
    """--address auto finds `ray start --head`, so does RAY_ADDRESS, and the cluster outlives the study."""
    study_process(tmp_path, "--store", "sqlite:///a.db", "--address", "auto", **AUTH)
    study_process(tmp_path, "--store", "sqlite:///b.db", RAY_ADDRESS=ray_cluster, **AUTH)
    study(tmp_path, "--store", "sqlite:///c.db", "--executor", "threads")
    assert values(f"sqlite:///{tmp_path}/a.db") == values(f"sqlite:///{tmp_path}/c.db")
    assert values(f"sqlite:///{tmp_path}/b.db") == values(f"sqlite:///{tmp_path}/c.db")
    with socket.create_connection(("127.0.0.1", int(ray_cluster.split(":")[1])), timeout=5):
        pass


def test_the_study_runs_and_resumes_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    study(tmp_path, "--executor", "threads", "--store", postgres_url)
    study(tmp_path, "--executor", "threads", "--store", postgres_url, "--generations", "2")
    study(tmp_path, "--executor", "threads", "--store", "sqlite:///a.db", "--generations", "2")
    assert values(postgres_url) == values(f"sqlite:///{tmp_path}/a.db")


def values(url: str) -> list[tuple[int, float | None]]:
    import optuna

    from turnier.results.store.store import Store

    with Store.open(url) as store:
        storage = optuna.storages.RDBStorage(store.url)
    trials = optuna.load_study(study_name="cmaes_heuristics-tiny", storage=storage).get_trials()
    storage.engine.dispose()
    assert trials
    return [(trial.number, trial.value) for trial in trials]
