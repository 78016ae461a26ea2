"""Games with people for `turnier play`: played one after another and stored, and the people's ratings."""

from __future__ import annotations

import getpass
from dataclasses import dataclass

from turnier.dashboards.kinds.tournament import list_of
from turnier.dashboards.terminal import print_sections

from ...agents.ensembles.pool import Pool
from ...agents.human.agent import Human
from ...agents.registry import make_agent
from ...arena.hosted_match import HostedMatch
from ...arena.match import MatchSpec
from ...core.errors import UserError
from ...core.number_text import number, plus_minus
from ...core.terminal.console import Console
from ...games.game import Game
from ...results.store.store import Store
from ...runs.people.hosted_games import next_seed, resume_stored, store_game
from ...runs.people.human_rating import next_opponent, rating_list, rating_of
from ..command_line import saving
from .human_session import Ask, Session, with_names

LISTED = 20  # agents of the rating list
KEPT = "The game is kept as it is; the same command continues it."


def login_name() -> str:
    """Returns the login name if a person may have it, otherwise human."""
    try:
        return Human(name=getpass.getuser()).name
    except (OSError, KeyError, UserError):
        return Human.name


@dataclass(frozen=True)
class Series:
    """Games of some agents, people among them, with seats that rotate from one game to the next."""

    game: Game
    agents: tuple[str, ...]  # text forms; in a ladder the person alone
    games: int
    seed: int | None  # of the first game; None: the next that has no finished game
    ladder: bool

    @classmethod
    def of(cls, game: Game, agents: list[str], name: str, games: int, seed: int | None, ladder: bool) -> Series:
        named = with_names(agents, name or login_name())
        made = [make_agent(agent) for agent in named]
        if ladder and not (len(made) == 1 and isinstance(made[0], Human)):
            raise UserError(f"a ladder chooses the opponents of one person, got {', '.join(named)}; name human alone.")
        if not ladder and len(named) != game.num_seats:
            raise UserError(f"{game} has {game.num_seats} seats, got {len(named)} agents; name one agent per seat.")
        return cls(game, tuple(agent.full_text() for agent in made), games, seed, ladder)

    def seats(self, store: Store, number: int) -> tuple[str, ...]:
        """Returns the agents of a game, counted from 0, by seat."""
        agents = self.agents
        if self.ladder:
            agents = (*agents, next_opponent(store, self.game, agents[0]))
        turn = number % len(agents)
        return agents[turn:] + agents[:turn]


def play_series(console: Console, series: Series, store: Store, ask: Ask, pool: Pool | None) -> None:
    """Plays the games of a series until a person leaves, then shows the people's ratings."""

    def interrupt() -> bool:
        raise KeyboardInterrupt

    with saving(interrupt):
        for number_of_game in range(series.games):
            seats = series.seats(store, number_of_game)
            seed = next_seed(store, series.game.full_text(), seats)
            if series.seed is not None:
                seed = series.seed + number_of_game
            match = HostedMatch(series.game, [make_agent(agent) for agent in seats], seed, pool)
            _require_new(store, match.spec)
            try:
                ended = _play_one(console, match, store, ask)
            except BaseException:
                store_game(store, match.record())
                console.print(f"\n{KEPT}")
                raise
            if not ended:
                break
    _show_ratings(console, series, store)


def _require_new(store: Store, spec: MatchSpec) -> None:
    found = store.records([spec.id])
    if found and found[0].termination.has_result:
        raise UserError(f"the game of these agents with seed {spec.seed} is over; leave out --seed.")


def _play_one(console: Console, match: HostedMatch, store: Store, ask: Ask) -> bool:
    """Plays a match and stores it; returns whether it came to its end."""
    names = ", ".join(f"seat {seat}: {agent}" for seat, agent in enumerate(match.agents))
    console.print(f"{match.game}, {names}, seed {match.spec.seed}", markup=False, highlight=False, soft_wrap=True)
    if resume_stored(store, match):
        console.print("This game was left unfinished; it resumes.")
    ended = Session(console, match, ask, stored=lambda: store_game(store, match.record())).play()
    run, record = store_game(store, match.record()), match.record()
    if not ended:
        console.print(f"\n{KEPT}")
        return False
    for seat, agent in enumerate(match.agents):
        ending = f", {record.termination}" if record.termination.is_forfeit else ""
        console.print(f"seat {seat}, {agent}: {number(record.scores[seat])}{ending}", markup=False, soft_wrap=True)
    console.print(f"Stored as {record.spec.id} of {run}; turnier show {record.spec.id[:8]} shows it again.\n")
    return True


def _show_ratings(console: Console, series: Series, store: Store) -> None:
    """Shows each person's rating and, after several games, the rating list of all stored games of the game."""
    if series.game.num_seats == 1:
        return
    people = [agent for agent in series.agents if isinstance(make_agent(agent), Human)]
    found = {person: rating_of(store, series.game, person) for person in people}
    if not any(found.values()):
        return
    if series.games > 1:
        standings = rating_list(store, series.game)
        for game in standings.ratings["game"].unique():
            print_sections(console, list_of(standings, str(game)), top=LISTED)
    for person, rating in found.items():
        if rating is not None:
            elo = plus_minus(rating.elo, rating.high - rating.elo, signed=True)
            shown = f"{make_agent(person).name}: Elo {elo} (95 %) by"
            shown += f" {rating.games} game{'s' * (rating.games != 1)}; 0 is the mean of the agents of {series.game}."
            console.print(shown, markup=False, highlight=False, soft_wrap=True)
