"""Seconds that people wait: for commands, each in its own process, for candidates of a study and for engines."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.processes import TURNIER, run_python
from benchmarks.programs import SOURCES, Round, Seconds, Stopwatch, Wait
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, count_plies
from turnier.arena.play import play_matches
from turnier.games.registry import GAMES

TWO_GAMES = ("tictactoe", "random", "mcts(iterations=20)", "--games", 2)
SHORT, LONG = 64, 640  # candidates of two searches
SEARCH = (
    *("2048(size=2)", "mc(iterations=1)", "--parameters", "rollout_depth"),
    *("--sampler", "cmaes", "--noise", "fixed(games=1)", "--verify", 0),
)
MODELLED = 256  # candidates, among which those of a model cost most
WEIGHTS = (
    *("2048", "expectimax(depth=1,evaluator=rows2048)", "--parameters", "evaluator.*"),
    *("--noise", "fixed(games=1)", "--verify", 0),
)
ENGINE_GAMES = 20


def _command(*words: object, **environment: str) -> Seconds:
    with Stopwatch() as clocks:
        run_python(TURNIER, *words, **environment)
    return clocks.seconds()


def _tournament(this: Round, **environment: str) -> Seconds:
    with tempfile.TemporaryDirectory(dir=this.folder) as new:
        return _command("tournament", *TWO_GAMES, TURNIER_STORE=f"sqlite:///{new}/new.db", **environment)


def _first_tournament(this: Round) -> Seconds:
    with tempfile.TemporaryDirectory(dir=this.folder) as empty:
        return _tournament(this, XDG_CACHE_HOME=empty, NUMBA_CACHE_DIR=empty)


def _reading(*words: str) -> Callable[[Round], Seconds]:
    """Returns the measurement of a command that reads the store of a tournament."""

    def measure(this: Round) -> Seconds:
        store = f"sqlite:///{this.folder}/tournament.db"
        run_python(TURNIER, "tournament", *TWO_GAMES, TURNIER_STORE=store)  # plays only once
        return _command(*words, TURNIER_STORE=store)

    return measure


def _complete(this: Round) -> Seconds:
    return _command(_TURNIER_COMPLETE="complete_bash", COMP_WORDS="turnier tournament tic", COMP_CWORD="2")


def _candidate(this: Round) -> Seconds:
    """The time of a candidate and its game of a few moves: that of a long search, without that of a short one."""
    store, few, many = f"sqlite:///{this.folder}/round{this.seed}.db", this.part(SHORT, 64), this.part(LONG, 256)
    short, long = (_command("tune", *SEARCH, "--name", n, "--budget", n, TURNIER_STORE=store) for n in (few, many))
    return Seconds(*(max(b - a, 1e-6) / (many - few) for a, b in zip(short, long, strict=True)))


def _study(sampler: str) -> Callable[[Round], Seconds]:
    """Returns the measurement of a search for weights, with a game per candidate, into a new store."""

    def measure(this: Round) -> Seconds:
        with tempfile.TemporaryDirectory(dir=this.folder) as new:
            words = ("--sampler", sampler, "--budget", this.part(MODELLED, 16))
            return _command("tune", *WEIGHTS, *words, TURNIER_STORE=f"sqlite:///{new}/new.db")

    return measure


def _engine_ply(this: Round) -> Seconds:
    """The time of a ply of two engines: of CPU time only ours, by the wall clock also theirs."""
    bot = f'json(command="{sys.executable} {SOURCES.parent}/examples/bots/random_bot.py")'
    game, text = GAMES.make("connect_four").full_text(), AGENTS.make(bot).full_text()
    specs = [MatchSpec(game, (text, text), this.seed + number) for number in range(this.part(ENGINE_GAMES))]
    play_matches(specs[:1])  # compiles
    cpu, wall = time.process_time(), time.perf_counter()
    records = play_matches(specs)
    plies = sum(count_plies(record.plies) for record in records)
    return Seconds((time.process_time() - cpu) / plies, (time.perf_counter() - wall) / plies)


WAITS = {
    "first_tournament": Wait("the first `turnier tournament tictactoe random mcts` of a user", _first_tournament),
    "tournament": Wait("the same with its kernels in the cache: two games", _tournament),
    "show": Wait("`turnier show` of that tournament", _reading("show", "last")),
    "runs": Wait("`turnier runs`", _reading("runs")),
    "list": Wait("`turnier list agents`", lambda this: _command("list", "agents")),
    "complete": Wait("a game's name, completed in the shell", _complete),
    "start": Wait("`turnier --version`", lambda this: _command("--version")),
    "play": Wait("`turnier play tictactoe random random`", lambda this: _command("play", "tictactoe", *["random"] * 2)),
    "candidate": Wait("a candidate of `turnier tune` with CMA-ES, and its game of a few moves", _candidate),
    **{
        f"study_{sampler}": Wait(f"`turnier tune` with {text}: {MODELLED} candidates, eight weights", _study(sampler))
        for sampler, text in (("random", "random candidates"), ("cmaes", "CMA-ES"), ("tpe", "TPE"), ("gp", "GP"))
    },
    "engine_ply": Wait("a ply of an engine in Python that speaks JSON lines; CPU time: ours", _engine_ply),
}
