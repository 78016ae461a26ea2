"""Ray on this machine alone: started again after it has ended, and gone when its driver is."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.cluster.executor import RayExecutor
from turnier.arena.workers.cluster.machines import nodes as ray_nodes
from turnier.games.registry import make_game

# A driver with a process like the raylet, whose child does not end with it.
AGENT = "import time; ray = time.sleep(60)"
RAYLET = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {AGENT!r}])"
STARTS = f"""
import subprocess, sys, time
from pathlib import Path
from types import SimpleNamespace
from turnier.arena.workers.cluster.local import LocalRay

raylet = subprocess.Popen([sys.executable, "-c", {RAYLET!r}])
children = Path(f"/proc/{{raylet.pid}}/task/{{raylet.pid}}/children")
while not children.read_text():
    time.sleep(0.01)
node = SimpleNamespace(all_processes={{"raylet": [SimpleNamespace(process=raylet)]}})
worker = SimpleNamespace(_global_node=node)
local = LocalRay(SimpleNamespace(_private=SimpleNamespace(worker=worker), nodes=list))
print(local.has_ended(), raylet.pid, children.read_text(), flush=True)
time.sleep(60)
"""


def runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes as Linux shows them")
def test_what_the_raylet_started_ends_with_a_killed_driver() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        ended, raylet, agent = driver.stdout.readline().split()
        assert ended == "False" and runs(int(agent))
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    deadline = time.monotonic() + 300
    while runs(int(agent)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    if runs(int(raylet)):  # Ray lets the kernel end its own
        os.kill(int(raylet), signal.SIGKILL)


@pytest.mark.parametrize("killed", ["gcs_server", pytest.param("raylet", marks=pytest.mark.long)])
def test_ray_that_ended_is_started_again_and_plays_the_same(
    killed: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ray_nodes, "WARN_SECONDS", math.inf)  # or a busy machine would say that it waits
    agents = [make_agent("mcts(iterations=60,rollout_depth=30)")]
    specs = round_robin(make_game("2048"), agents, games=8, seed=7)
    found: dict[MatchSpec, bytes] = {}
    with RayExecutor(2, "local") as executor:
        import ray

        (process,) = ray._private.worker._global_node.all_processes[killed]
        for batch in executor.play(specs):
            if not found:
                process.process.kill()
            found |= {record.spec: record.plies for record in batch}
    assert found == {spec: play_match(spec).plies for spec in specs}
    told = capfd.readouterr().err
    assert told.strip() == "Ray on this machine has ended; starting it again ..."


@pytest.mark.long
def test_killed_workers_are_replaced_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """Ray itself would print a page per worker on standard output."""
    specs = round_robin(make_game("2048"), [make_agent("mc(iterations=60,rollout_depth=30)")], games=12, seed=7)
    found: dict[MatchSpec, bytes] = {}
    with RayExecutor(2, "local") as executor:
        import ray

        pids = [ray.get(handle.__ray_call__.remote(lambda _: os.getpid())) for handle in executor.actors.handles]
        for batch in executor.play(specs):
            if not found:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
            found |= {record.spec: record.plies for record in batch}
        time.sleep(2.0)  # until the report is there
    assert found == {spec: play_match(spec).plies for spec in specs}
    assert capfd.readouterr() == ("", "")


def test_ray_starts_what_workers_need_and_nothing_else() -> None:
    """An option of `ray.init` for it does not exist, so a new version of Ray may start more."""
    with RayExecutor(2, "local"):
        import ray

        node = ray._private.worker._global_node
        assert set(node.all_processes) == {"gcs_server", "raylet"}
        assert node.start_api_server.__name__ == "start_api_server"
