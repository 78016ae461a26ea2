"""The cases to check for a name: its laws and, for agents and evaluators, the games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.agent import Agent
from ..agents.evaluator import Evaluator
from ..agents.registry import AGENTS, EVALUATORS
from ..core.errors import UserError, unknown
from ..core.outside import classes
from ..core.outside.trust import trusting
from ..core.parameters import Declared, Registry
from ..core.text_form import parse
from ..games.game import Game
from ..games.registry import GAMES, make_game
from ..search.samplers.registry import SAMPLERS
from . import agents
from .declarations import DECLARATION_LAWS
from .evaluators import EVALUATOR_LAWS
from .games.laws import BASIC_LAWS, GAME_LAWS
from .law import Law, check, name_of, sentence_of
from .samplers import SAMPLER_LAWS

REGISTRIES: tuple[Registry[Any], ...] = (GAMES, AGENTS, EVALUATORS, SAMPLERS)
SMALL_GAMES = (  # for checking agents and evaluators
    "tictactoe",
    "nim",
    "connect_four(rows=4,columns=4)",
    "yavalath(size=3,players=3)",
    "2048(size=3)",
    "2048",
    "spe_ed(width=8,height=9)",
)


@dataclass(frozen=True)
class Case:
    """One law of one subject, such as an agent, or an agent in a game."""

    law: Law
    subject: tuple[Declared, ...]

    def __str__(self) -> str:
        return f"{self.name} in {self.game}" if self.game else self.name

    @property
    def kind(self) -> str:
        return self.subject[0].kind

    @property
    def game(self) -> str:
        """The game of an agent or evaluator."""
        return str(self.subject[1]) if len(self.subject) > 1 else ""

    @property
    def name(self) -> str:
        return name_of(self.law)

    @property
    def must(self) -> str:
        """The first line of the law's docstring."""
        return (self.law.__doc__ or "").splitlines()[0]

    @property
    def is_basic(self) -> bool:
        """Whether the other laws mean nothing if this one is broken."""
        return self.law in BASIC_LAWS

    def check(self) -> str:
        """Returns a sentence on how the law is broken, empty if it is kept."""
        try:
            check(self.law, *self.subject)
        except (Exception, SystemExit) as error:
            return sentence_of(error)
        return ""


def cases_of(text: str | Declared, games: Sequence[str] = ()) -> list[Case]:
    """Returns the cases of a text form; a name that several kinds have stands for all of them.

    Args:
        text: a game, agent, evaluator or sampler, or its text form.
        games: for agents and evaluators; if empty, our small games that fit.
    """
    with trusting():  # laws look at the code itself
        return [case for declared in _made(text) for case in _cases(declared, games)]


def _made(text: str | Declared) -> list[Declared]:
    """Returns the objects that a text names: `random` is an agent and a sampler."""
    if isinstance(text, Declared):
        return [text]
    name = parse(text).name
    if classes.is_outside(name):
        kind = classes.kind_of(name)
        found = [registry for registry in REGISTRIES if registry.kind == kind]
        if not found:
            kinds = ", ".join(registry.kind for registry in REGISTRIES)
            raise UserError(
                f"a class to check must be one of {kinds}, got {name}, which is a {kind}; name another class."
            )
    else:
        found = [registry for registry in REGISTRIES if name in registry.names() or name in registry.installed()]
        if not found:
            known = [known for registry in REGISTRIES for known in registry.names()]
            raise unknown("game, agent, evaluator or sampler", name, known)
    made, mistakes = [], []
    for registry in found:
        try:
            made.append(registry.make(text))
        except UserError as mistake:
            mistakes.append(mistake)
    if not made:
        raise mistakes[0]
    return made


def _cases(declared: Declared, games: Sequence[str]) -> Iterator[Case]:
    for law in DECLARATION_LAWS:
        yield Case(law, (declared,))
    if isinstance(declared, Agent):
        laws, why_not = agents.laws_of(declared), declared.cannot_play
    elif isinstance(declared, Evaluator):
        laws, why_not = EVALUATOR_LAWS, declared.cannot_evaluate
    else:
        for law in GAME_LAWS if isinstance(declared, Game) else SAMPLER_LAWS:
            yield Case(law, (declared,))
        return
    for game in _fitting(declared, why_not, games):
        for law in laws:
            yield Case(law, (declared, game))


def _fitting(declared: Declared, why_not: Any, games: Sequence[str]) -> list[Game]:
    """Returns the games that fit an agent or evaluator; raises UserError if none fits."""
    made = [make_game(game) for game in games or SMALL_GAMES]
    reasons = {game: why_not(game) for game in made}
    if games and any(reasons.values()):
        raise UserError(next(reason for reason in reasons.values() if reason))
    fitting = [game for game, reason in reasons.items() if reason is None]
    if not fitting:
        why = reasons[made[0]]
        raise UserError(f"{declared} must fit one of our small games, but none does; name its game by --game. {why}")
    return fitting
