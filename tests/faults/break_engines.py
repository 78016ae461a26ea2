"""Plays engines that fail at random, and checks every record: nothing missing, nothing twice, the right loser.

    python -m tests.faults.break_engines --folder /tmp/engines --games 1000
    python -m tests.faults.break_engines --folder /tmp/go --games 200 --pairing go
    python -m tests.faults.break_engines --folder /tmp/kills --games 100 --kills 5

The first plays Stockfish against GNU Chess, the second GNU Go against our mcts; `--faults 0` measures what a game costs
besides the engines' own time. Repeat a command to resume it.
"""

from __future__ import annotations

import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from turnier.agents.engines.process import EngineProcess
from turnier.arena.match import MatchRecord, Termination
from turnier.arena.match_json import disagreement
from turnier.arena.play import play_match
from turnier.core.number_text import plus_minus
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament
from turnier.statistics.comparisons import paired_difference
from turnier.statistics.sprt import elo_of_share

UNRELIABLE = Path(__file__).with_name("unreliable.py")
END_SECONDS = 20.0  # for who ends what a killed command leaves
TIMES = "limit=2,margin=500"


def main(
    folder: Annotated[Path, typer.Option(help="for files, which stay")],
    games: int = 1000,
    pairing: Annotated[str, typer.Option(help="chess or go")] = "chess",
    faults: Annotated[float, typer.Option(help="probability per move of an engine")] = 0.004,
    kills: Annotated[int, typer.Option(help="of the whole tournament, by SIGKILL")] = 0,
    workers: int = 2,
    executor: str = "threads",
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for told in ("groups", "faults"):  # by the engines
        (folder / told).touch()
    game, *agents = pairings(folder, faults)[pairing]
    planned = Tournament(game, agents, games=games, openings=1, exactly=True)
    store = f"sqlite:///{folder}/games.db"
    if not faults:
        measure(planned)
        return
    words = [game, *agents, "--games", str(games), "--openings", "1", "--exactly", "--store", store]
    where = ["--executor", executor, "--workers", str(workers)]
    command = [sys.executable, "-c", "from turnier.commands.app import main; main()", "tournament", *words, *where]
    began, killed = time.monotonic(), 0
    while True:
        playing = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            code = playing.wait(random.uniform(5, 30) if killed < kills else None)
        except subprocess.TimeoutExpired:
            playing.send_signal(signal.SIGKILL)
            code, killed = playing.wait(), killed + 1
        deadline = time.monotonic() + END_SECONDS
        while (left := processes_left(folder)) and time.monotonic() < deadline:
            time.sleep(0.1)
        if left:
            sys.exit(f"processes are left over: {left}")
        if code == 0:
            break
        if code != -signal.SIGKILL:
            sys.exit(f"the tournament ended with the exit code {code}")
    print(f"{time.monotonic() - began:.0f} s, {killed} kills")
    with Store.open(store) as opened:
        records = [record for batch in opened.records_of_run(planned.run_id) for record in batch]
    check(planned, records, folder, all_stored=not kills)
    show(planned, records)


def pairings(folder: Path, faults: float) -> dict[str, tuple[str, str, str]]:
    def engine(command: str) -> str:
        first, *rest = shlex.split(command)
        program = shutil.which(first, path="/usr/games:/usr/bin:/usr/local/bin") or sys.exit(f"there is no {first}")
        if not faults:
            return shlex.join([program, *rest])
        return shlex.join([sys.executable, "-S", str(UNRELIABLE), first, str(folder), str(faults), program, *rest])

    stockfish = f'uci(command="{engine("stockfish")}",nodes=60,options="Hash=1;Skill Level=1",{TIMES})'
    gnuchess = f'uci(command="{engine("gnuchess --uci")}",depth=1,options="OwnBook=false",{TIMES})'
    gnugo = f'gtp(command="{engine("gnugo --mode gtp --level 0")}",{TIMES})'
    return {"chess": ("chess", stockfish, gnuchess), "go": ("go", gnugo, "mcts(iterations=300)")}


def processes_left(folder: Path) -> list[str]:
    """Returns the processes of all groups that were started and that live."""
    groups = set((folder / "groups").read_text().split())
    living = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, after = status.read_text().rpartition(") ")
        except OSError:
            continue  # it has just ended
        state, _, group = after.split()[:3]
        if group in groups and state != "Z":
            living.append(status.parent.name)
    return living


def check(planned: Tournament, records: list[MatchRecord], folder: Path, all_stored: bool) -> None:
    """Compares the records with the plan and with what the engines did."""
    plan = {spec.id for spec in planned.plan or ()}
    counts = Counter(record.spec.id for record in records)
    if set(counts) != plan or max(counts.values()) > 1:
        sys.exit(f"each of {len(plan)} games must have one record, got {len(records)}")
    wrong = [said for record in records if (said := disagreement(record))]
    done = [line.split() for line in (folder / "faults").read_text().splitlines()]
    unexplained = {record.spec.id: record for record in records if record.error}
    for number, name, ending in done:
        found = [record for record in records if number in record.error]
        if len(found) > 1 or (all_stored and not found):
            wrong.append(f"{number}: {len(found)} records")
        for record in found:
            unexplained.pop(record.spec.id, None)
            (loser,) = [seat for seat, score in enumerate(record.scores) if score == -1.0]
            if record.termination != ending or f" {name} " not in record.spec.agents[loser]:
                wrong.append(f"{number}: {name} {ending}, got {record.termination} of {record.spec.agents[loser]}")
    own = [record for record in unexplained.values() if record.termination is not Termination.RESIGNED]
    for record in own:
        print(f"of its own: {record.spec.id} {record.termination}: {record.error}")
    print(f"{len(records):,} games, one record each; {len(done)} faults, {len(own)} failures of the engines' own")
    print(dict(Counter(record.termination.value for record in records)))
    if wrong:
        sys.exit("\n".join(wrong))


def show(planned: Tournament, records: list[MatchRecord]) -> None:
    """Prints the first agent's won, drawn and lost games, and its Elo by the formula that match runners share."""
    first = next(iter(planned.plan or ())).agents[0]
    points = Counter(record.points[record.spec.agents.index(first)] for record in records)
    share = sum(point * count for point, count in points.items()) / len(records)
    counts = [points[point] for point in (1.0, 0.5, 0.0)]
    print(f"{first}: won, drawn, lost {counts}, {elo_of_share(share):+.3f} Elo")


def measure(planned: Tournament) -> None:
    """Prints the time per game that is spent neither waiting for engines nor deciding ourselves."""
    waited = [0.0]

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                waited[0] += time.perf_counter() - began

        return call

    # A line that wakes an engine lets it run at once where there are fewer cores than processes.
    EngineProcess.read, EngineProcess.write = timed(EngineProcess.read), timed(EngineProcess.write)  # type: ignore[method-assign]
    specs = list(planned.plan or ())
    play_match(specs[0])  # starts the engines and compiles
    spent, own, moves = [], [], 0
    for spec in specs[1:]:
        waited[0], began = 0.0, time.perf_counter()
        record = play_match(spec)
        spent.append(1000 * (time.perf_counter() - began))
        ours = [seat for seat, agent in enumerate(spec.agents) if "command=" not in agent]
        own.append(1000 * (waited[0] + sum(record.seat_seconds[seat] for seat in ours)))
        moves += sum(record.decisions)
    rest = paired_difference([whole - part for whole, part in zip(spent, own, strict=True)])
    half_width = rest.high - rest.mean
    print(f"{len(spent)} games of {moves / len(spent):.0f} moves: {sum(spent) / len(spent):.1f} ms per game")
    print(f"{plus_minus(rest.mean, half_width)} ms of it (95 %) are neither engines' nor agents'")


if __name__ == "__main__":
    typer.run(main)
