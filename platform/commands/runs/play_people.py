"""Games with people for `turnier play`: played one after another and stored, and the people's ratings."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable
from dataclasses import dataclass

from turnier.dashboards.kinds.tournament import list_of
from turnier.dashboards.terminal import print_sections

from ...agents.ensembles.pool import Pool
from ...agents.human.agent import Human
from ...agents.registry import make_agent
from ...arena.analysis import analyse
from ...arena.hosted_match import HostedMatch
from ...arena.match import MatchSpec
from ...core.errors import UserError, nearest
from ...core.number_text import number, plus_minus
from ...core.terminal.console import Console
from ...games.game import Game
from ...games.setup.moves import suggestion
from ...results.store.store import Store
from ...runs.people.hosted_games import next_seed, resume_stored, store_game
from ...runs.people.human_rating import next_opponent, rating_list, rating_of
from ..command_line import saving

HELP = """\
  NAME          play this move; the beginning of its name is enough if it is the only one
  moves         list the moves
  board         show the board again
  hint [AGENT]  the best moves by an agent, such as: hint mcts(iterations=5000)
  undo          take back your last move and what followed
  resign        give up the game
  quit          leave; the game is kept, and the same command continues it"""
COMMANDS = ("moves", "board", "hint", "undo", "resign", "quit", "help")
HINT_MOVES = 5
KEEP_SECONDS = 30.0
Ask = Callable[[str], str]  # prompt -> the typed text; raises EOFError at the end of the input


class Left(Exception):
    """Raised when a person leaves the game."""


class Session:
    """Plays a match with the people at this terminal, until its end or until they leave."""

    def __init__(self, console: Console, match: HostedMatch, ask: Ask, stored: Callable[[], object]) -> None:
        """`stored` is called after moves, every KEEP_SECONDS: a kill loses no more than that."""
        self.console, self.match, self.ask, self.stored = console, match, ask, stored
        self.kept = time.monotonic()

    def play(self) -> bool:
        """Returns whether the match came to an end."""
        try:
            while not self.match.over:
                if self.match.human_to_move:
                    self._person()
                else:
                    self._agent()
        except Left:
            return False
        finally:
            self.match.close()
        self._say(f"\n{self.match.position}\n")
        return True

    def _agent(self) -> None:
        match, seat = self.match, self.match.position.to_move
        decision = match.ask()
        if decision is None:
            self._say(f"seat {seat}, {match.agents[seat]}, forfeits: {match.error}")
        elif match.game.kernels.has_observe:
            self._say(f"seat {seat}, {match.agents[seat]}, has chosen")
        else:
            self._say(f"seat {seat}, {match.agents[seat]}, plays {match.game.action_name(decision.action)}")

    def _person(self) -> None:
        """Asks until there is a move, or the game is taken back or over."""
        self._show_board()
        match, seat = self.match, self.match.position.to_move
        prompt = f"{match.agents[seat].name}, seat {seat} (help): "
        while True:
            try:
                typed = " ".join(self.ask(prompt).split())
            except EOFError:
                raise Left from None
            if typed and self._obeys(typed):
                return

    def _obeys(self, typed: str) -> bool:
        """Obeys the typed text; returns whether the position has changed or the game has ended."""
        names = self.match.position.named_plies()
        chosen = self.match.game.typed_move(self.match.position.state, typed)
        if chosen is None:
            chosen = chosen_move(typed, names)
        if chosen is not None:
            self.match.play(chosen)
            if time.monotonic() - self.kept > KEEP_SECONDS:
                self.stored()
                self.kept = time.monotonic()
            return True
        word, _, rest = typed.partition(" ")
        command = getattr(self, f"_{word.casefold()}", None) if word.casefold() in COMMANDS else None
        if command is not None:
            return bool(command(rest))
        begins = [name for name in names if name.casefold().startswith(typed.casefold())]
        if begins:
            self._say(f"A move must be unambiguous, got {typed!r}, which begins {', '.join(begins[:HINT_MOVES])}.")
        else:
            known = nearest(typed, [*names, *COMMANDS]) or suggestion(typed, names)
            self._say(f"There is no move or command {typed!r}; {known}")
        return False

    def _help(self, _: str) -> None:
        self._say(HELP)

    def _moves(self, _: str) -> None:
        position = self.match.position
        self._say("  ".join(self.match.game.action_name(action) for action in position.legal_actions()))

    def _board(self, _: str) -> None:
        self._show_board()

    def _hint(self, text: str) -> None:
        """Shows the best moves by the named agent, the first agent in the match, or a search."""
        try:
            found = next(analyse(self.match.seen(), [make_agent(text or self._adviser())], repeats=1))
        except UserError as mistake:
            self._say(str(mistake))
            return
        (one,), game = found.agents, self.match.game
        scale = one.unit.scale
        order = sorted(range(len(one.legal)), key=lambda i: (one.legal[i] != one.best, -one.visits[i], -one.values[i]))
        moves = [
            f"{game.action_name(one.legal[i])}"
            + (f" {number(one.values[i] * scale)} ({number(one.visits[i])} visits)" if one.visits[i] else "")
            for i in order[:HINT_MOVES]
        ]
        self._say(f"{one.agent}: {', '.join(moves)}\n  then {' '.join(ply.name for ply in one.line)}")

    def _adviser(self) -> str:
        playing = [agent for agent in self.match.agents if not agent.runs_program and str(agent) != "random"]
        return str(playing[0]) if playing else "mctse" if self.match.game.has_chance else "mcts(iterations=2000)"

    def _undo(self, _: str) -> bool:
        if not self.match.undo():
            self._say("You have no move to take back yet.")
            return False
        return True

    def _resign(self, _: str) -> bool:
        self.match.resign()
        return True

    def _quit(self, _: str) -> None:
        raise Left

    def _show_board(self) -> None:
        self._say(f"\n{self.match.seen()}")
        if self.match.game.num_seats == 1:
            self._say(f"score {number(float(self.match.position.returns[0]))}")

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)


def chosen_move(typed: str, names: dict[str, int]) -> int | None:
    """Returns the move of that name, or of the only name that begins so; None if there are none or several."""
    folded = typed.casefold()
    exact = {action for name, action in names.items() if name.casefold() == folded}
    if len(exact) == 1:
        return exact.pop()
    if folded.split(" ")[0] in COMMANDS:
        return None
    begun = {action for name, action in names.items() if name.casefold().startswith(folded)}
    return begun.pop() if len(begun) == 1 else None


def with_names(agents: list[str], name: str) -> list[str]:
    """Returns the agents with that name for people without one, numbered from the second on."""
    named, people = [], 0
    for text in agents:
        agent = make_agent(text)
        if isinstance(agent, Human) and agent.name == Human.name:
            people += 1
            agent = Human(name=name if people == 1 else f"{name} {people}")
        named.append(str(agent))
    return named


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
