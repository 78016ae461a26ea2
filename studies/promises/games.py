"""Games of agents of known strength: equal ones, and means of long runs."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import play_matches
from turnier.games.registry import GAMES
from turnier.results.store.store import Store

BOT = f"{Path(__file__).with_name('bot.py')}:Bot"
LONG = 200_000  # games of a long run
_CALL = 20_000  # games at once, to limit memory


@contextlib.contextmanager
def passing_store() -> Iterator[Store]:
    """Yields an empty store that lasts as long as the block."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/games.db") as store:
        yield store


def bot(number: int, first: float = 0.0) -> Agent:
    """Returns a bot that plays the first legal action with probability `first`."""
    return make_agent(f"{BOT}(number={number},first={first:g})")


def equal_bots(unit: int, count: int) -> list[Agent]:
    """Returns equal bots that play in no other unit."""
    return [bot(1000 * (unit + 1) + i) for i in range(count)]


def bots(unit: int, firsts: Sequence[float]) -> list[Agent]:
    """Returns bots of these strengths that play in no other unit."""
    return [bot(1000 * (unit + 1) + i, first) for i, first in enumerate(firsts)]


def play(game: str, agents: Sequence[Agent], games: int, *seed: int | str, start: int = 0) -> list[MatchRecord]:
    """Plays games `start` to `start + games` of agents, one for each seat, with seeds derived from `seed`."""
    text, seats = GAMES.make(game).full_text(), tuple(agent.full_text() for agent in agents)
    records: list[MatchRecord] = []
    for begin in range(start, start + games, _CALL):
        numbers = range(begin, min(begin + _CALL, start + games))
        records += play_matches([MatchSpec(text, seats, derive_seed("calibration", *seed, i)) for i in numbers])
    return records


def scores(game: str, agent: Agent, games: int, *seed: int | str, start: int = 0) -> npt.NDArray[np.float64]:
    """Returns the scores [games] of a single-player game, see `play`."""
    return np.array([record.scores[0] for record in play(game, [agent], games, *seed, start=start)])


@functools.cache
def long_run(game: str, agent: str, games: int = LONG) -> npt.NDArray[np.float64]:
    """Returns the scores [games] of an agent in a long run."""
    return scores(game, make_agent(agent), games, "long")


@functools.cache
def true_share(game: str, first: float) -> float:
    """Returns the share of points of a bot of that strength against a random one, in both seats."""
    one, other = bot(1, first), bot(2)
    won = [record.points[0] for record in play(game, [one, other], LONG // 2, "long")]
    won += [record.points[1] for record in play(game, [other, one], LONG // 2, "long too")]
    return float(np.mean(won))
