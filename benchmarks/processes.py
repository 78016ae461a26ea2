"""Speed of whole commands, each in its own process: short games in a tournament."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, run_program

GAMES, WORKERS = 200_000, 2  # enough that starting the command takes a small part of the time
TURNIER = "import sys; sys.argv[0] = 'turnier'; from turnier.commands.app import main; main()"


def run_python(code: str, *words: object, **environment: str) -> None:
    """Runs a line of Python with `words` as command line."""
    command = [sys.executable, "-c", code, *(str(word) for word in words)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)


def _tournament_2048(this: Round) -> Rates:
    """Random games/s through `turnier tournament` on several cores, including start and ratings, into a new store."""
    games, store = this.part(GAMES), this.folder / f"round{this.seed}.db"
    theirs = run_program(this.folder, "reference_2048", "random", games, this.seed)
    words = ("2048", "random", "--games", games, "--seed", this.seed, "--store", f"sqlite:///{store}")
    with Stopwatch() as clocks:
        run_python(TURNIER, "tournament", *words, "--executor", "threads", "--workers", WORKERS)
    store.unlink()
    return Rates(clocks.speed(games), program_speed(theirs, "games"))


PROCESS_BENCHMARKS = {
    "tournament_2048": Benchmark(
        "games/s", "scalar C, random games on 1 core, none stored; 2 threads", _tournament_2048, "wall"
    ),
}
