"""Kills `turnier train` at random moments and resumes it: what is lost, and whether the file stays the same.

    python -m tests.faults.kill_training --folder /tmp/kills --games 40000 --kills 20

A training that gets to its end is compared with one that nobody disturbed, byte by byte, and another one begins.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.ntuple.weights import read_config

# Writes down when how many games were played, as the bar is told.
_TOLD = """
import os, sys, time
from turnier.commands.app import main
from turnier.runs.bar import Bar
log, advance = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT), Bar.advance
def told(self, done):
    advance(self, done)
    os.write(log, f"{time.time()} {self.done}\\n".encode())
Bar.advance = told
main()
"""


def main(
    folder: Annotated[Path, typer.Option(help="for files, which stay")],
    game: str = "2048",
    network: str = "ntuple(network=4x6)",
    games: Annotated[int, typer.Option(help="per training")] = 40_000,
    kills: int = 20,
    longest: Annotated[float, typer.Option(help="seconds from the start of a command to its end, 1 at least")] = 60.0,
    seed: int = 1,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log, rng = folder / "log", random.Random(seed)

    def start(out: Path) -> subprocess.Popen[bytes]:
        words = ["train", game, network, "--games", str(games), "--out", str(out)]
        command = [sys.executable, "-c", _TOLD, str(log), *words, "--store", f"sqlite:///{out.with_suffix('.db')}"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    began = time.monotonic()
    whole, out = folder / "whole.npz", folder / "killed.npz"
    if start(whole).wait():
        sys.exit("the undisturbed training failed")
    print(f"undisturbed: {games:,} games in {time.monotonic() - began:.0f} s", flush=True)
    killed, compared, most = 0, 0, (0.0, 0)
    while killed < kills or out.exists():
        log.unlink(missing_ok=True)
        process = start(out)
        try:
            failed = process.wait(rng.uniform(1.0, longest) if killed < kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            at, killed = time.time(), killed + 1
            process.wait()
            seconds, lost = _lost(log, out, at)
            most = max(most, (seconds, lost))
            print(f"kill {killed}: {seconds:.2f} s, {lost:,} games lost", flush=True)
            continue
        if failed or out.read_bytes() != whole.read_bytes():
            sys.exit(f"exit code {failed}, the file is " + ("missing" if not out.exists() else "not that of before"))
        compared += 1
        out.unlink()
    print(f"{killed} kills, {compared} trainings equal; at most {most[0]:.2f} s ({most[1]:,} games) lost")


def _lost(log: Path, out: Path, at: float) -> tuple[float, int]:
    """Returns the seconds and games after the last one that is in the file, of the command that was killed."""
    told = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    played = [(float(when), int(done)) for when, done in told]
    stored = read_config(out)["training"]["done"] if out.exists() else 0
    missing = [when for when, done in played if done > stored]
    if not missing:
        return 0.0, 0
    before = [when for when, done in played if done <= stored]
    return at - (before[-1] if before else missing[0]), played[-1][1] - stored


if __name__ == "__main__":
    typer.run(main)
