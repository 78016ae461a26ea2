"""The laws that every agent keeps, as functions `law(agent, game)` that raise AssertionError where one is broken.

`variants` derives small-parameter variants of a registry agent from its declared parameters, so a new agent is under
the contract with its registry line; only a new *kind* of costly parameter needs a line in SMALL.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from turnier.agents.agent import Agent, Decision
from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.agents.spe_ed.player import SpeEdAgent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_matches
from turnier.core.kernel import JIT
from turnier.core.parameters import Declared, parameters_of
from turnier.core.rng import stream
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

Law = Callable[[Agent, Game], None]

GAMES = ("tictactoe", "connect_four(rows=4,columns=4)", "nim", "2048(size=2)", "2048(size=3)", "2048")
FEW_GAMES = ("tictactoe", "2048(size=2)", "2048")
# Agents of one game play that one only, in which no action is ever the only one.
OF_SPE_ED = {name for name in AGENTS.names() if issubclass(AGENTS.load(name), SpeEdAgent)}
SPE_ED_GAMES = ("spe_ed(width=8,height=9)", "spe_ed(width=12,height=9,players=3)")
# What makes a variant cheap, where an agent has the parameter.
SMALL: dict[str, Any] = {"iterations": 10, "rollout_depth": 6, "maxnodes": 12, "depth": 2, "deepest": 2, "members": 2}
SMALL |= {"rollouts": 20, "table_rounds": 2}
INTERLEAVED = ("mctse",)  # agents whose decisions depend on timing as soon as several threads make them
MAX_PLIES = 60 if JIT else 15  # of a match in these laws; 4x4 games of 2048 would go on for a thousand


def small(name: str) -> Agent:
    """Returns a registry agent with the parameters of SMALL, at every depth."""
    agent = make_agent(name)
    known = {field.name: field.default for field, _ in parameters_of(type(agent))}
    inner = {key: small(value.name) for key, value in known.items() if isinstance(value, Agent)}
    return agent.replace(**{key: value for key, value in SMALL.items() if key in known}, **inner)


def variants(name: str) -> list[Agent]:
    """Returns small variants, each off the base in one parameter: any agent, evaluator, choice, or lowest value."""
    base = small(name)
    found = [base]
    for field, declared in parameters_of(type(base)):
        default = field.default
        values: list[Any] = []
        if isinstance(default, Declared) and default.kind == "evaluator":
            values = [EVALUATORS.make(evaluator) for evaluator in EVALUATORS.names()]
        elif isinstance(default, Agent):
            values = [small(agent) for agent in AGENTS.names()]
        elif isinstance(default, bool):
            values = [not default]
        elif field.name == "threads":
            values = [2] if name not in INTERLEAVED else []
        elif declared.choices:
            values = list(declared.choices)
        elif isinstance(default, int) and declared.high is not None and declared.high - declared.low <= 5:
            values = list(range(int(declared.low), int(declared.high) + 1))
        elif isinstance(default, int | float) and declared.low is not None:
            values = [type(default)(declared.low)]
        found += [base.replace(**{field.name: value}) for value in values]
    return list({str(agent): agent for agent in found}.values())


def cases(all_variants: bool = False) -> list[tuple[str, str]]:
    """Returns (agent, game) in text form: each small agent in every game that it can play, its variants in one each.

    Variants take the games in turn, in a seeded order, and play all games that the small agent cannot play. With
    `all_variants` every variant plays every game that it can.
    """
    found: list[tuple[str, str]] = []
    for name in AGENTS.names():
        base = small(name)
        familiar = _playable(base, base)
        order = random.Random(name).sample(familiar, len(familiar))
        for turn, agent in enumerate(variants(name)):
            games = _playable(agent, base)
            if games and agent != base and not all_variants and set(games) <= set(familiar):
                in_turn = [game for game in order if game in games]
                games = [in_turn[turn % len(in_turn)]]
            found += [(str(agent), game) for game in games]
    return found


def _playable(agent: Agent, base: Agent) -> list[str]:
    """Returns the games in which a variant of a small agent is tried: those of spe_ed where it plays no others."""
    usual = GAMES if _inner(agent) == _inner(base) else FEW_GAMES
    for games in (usual, SPE_ED_GAMES):
        if found := [game for game in games if agent.cannot_play(make_game(game)) is None]:
            return found
    return []


def _inner(agent: Agent) -> list[Any]:
    """What is inside an agent: an evaluator, an ensemble's members. Variants of those do not play all games again."""
    values = [getattr(agent, field.name) for field, _ in parameters_of(type(agent))]
    return [value for value in values if isinstance(value, Declared)]


@functools.cache
def positions(game_text: str) -> tuple[Position, ...]:
    """Returns positions early, in the middle and late in play, some of them with a single legal action."""
    game = make_game(game_text)
    found: list[Position] = []
    forced: list[Position] = []
    for seed in range(16):
        draws = np.random.default_rng(seed)
        preferred = list(draws.permutation(game.num_actions))
        line = [game.start(seed)]
        while not line[-1].over:
            # Every other game is played with a fixed preference, which leads 2048 to positions with one legal action.
            legal = line[-1].legal_actions()
            line.append(line[-1].play(int(draws.choice(legal)) if seed % 2 else min(legal, key=lambda a: preferred[a])))
        line.pop()
        if seed % 2:
            found.append(line[(seed * len(line)) // 16])
        forced += [position for position in line if len(position.legal_actions()) == 1][:1]
    assert forced or game_text in SPE_ED_GAMES, f"no position of {game_text} with a single legal action was found"
    return (*found, *forced[:2])


def copy_of(position: Position, chance_seed: int | None = None) -> Position:
    """Returns an equal position, with another stream of chance if one is given."""
    rng = position._rng.copy() if chance_seed is None else stream(chance_seed)
    return Position(position.game, position.state.copy(), position.returns.copy(), rng)


def same(one: Decision, other: Decision) -> bool:
    """Whether two decisions are equal but for the seconds."""
    return (
        one.action == other.action
        and one.nodes == other.nodes
        and np.array_equal(one.visits, other.visits)
        and np.array_equal(one.values, other.values)
    )


def decisions(agent: Agent, game: Game, seed: int) -> Iterator[tuple[Position, Decision]]:
    """Yields what one player decides in every sample position, in turn."""
    players = [agent.start(game, seat, seed) for seat in range(game.num_seats)]
    for position in positions(str(game)):
        given = copy_of(position)
        yield position, players[position.to_move].act(given)


def law_legal(agent: Agent, game: Game) -> None:
    """An agent chooses a legal action in every position."""
    for position, decision in decisions(agent, game, seed=1):
        legal = position.legal_actions()
        assert decision.action in legal, f"{agent} chose {decision.action} of {legal} in {position.state}"


def law_untouched(agent: Agent, game: Game) -> None:
    """Neither deciding in Python nor the kernel changes the position, its returns or its stream of chance."""
    players = [agent.start(game, seat, 1) for seat in range(game.num_seats)]
    kernels = agent.seat_kernels(game)
    for position in positions(str(game)):
        given = copy_of(position)
        players[given.to_move].act(given)
        assert np.array_equal(given.state, position.state), f"{agent} changed the state"
        assert np.array_equal(given.returns, position.returns), f"{agent} changed the returns"
        assert np.array_equal(given._rng, position._rng), f"{agent} drew from the match's chance"
        if kernels is not None:
            settings, weights = kernels.settings.copy(), kernels.evaluator.weights.copy()
            root = np.zeros((2, game.num_actions))
            arrays = (given.state, given.returns, stream(1), root)
            kernels.act(game.kernels, kernels.evaluator, kernels.settings, *arrays)
            assert np.array_equal(given.state, position.state), f"{agent}'s kernel changed the state"
            assert np.array_equal(given.returns, position.returns), f"{agent}'s kernel changed the returns"
            assert np.array_equal(kernels.settings, settings), f"{agent}'s kernel changed its settings"
            assert np.array_equal(kernels.evaluator.weights, weights), f"{agent}'s kernel changed its weights"


def law_seed(agent: Agent, game: Game) -> None:
    """The same seed gives the same decisions, whatever other players of the same agent do in between."""
    alone = [decision for _, decision in decisions(agent, game, seed=1)]
    first, other, again = (decisions(agent, game, seed) for seed in (1, 2, 1))
    for expected, (_, one), _, (_, two) in zip(alone, first, other, again, strict=True):
        assert same(expected, one) and same(one, two), f"{agent} decided {expected}, {one} and {two} with one seed"


def law_blind_to_chance(agent: Agent, game: Game) -> None:
    """A decision does not depend on the chance outcomes that the match will draw next."""
    players = [[agent.start(game, seat, 1) for seat in range(game.num_seats)] for _ in range(2)]
    for position in positions(str(game)):
        one, two = (
            players[i][position.to_move].act(copy_of(position, chance_seed=chance)) for i, chance in ((0, 5), (1, 6))
        )
        assert same(one, two), f"{agent} decided {one.action} and {two.action} before different outcomes"


def law_arrays(agent: Agent, game: Game) -> None:
    """Visits and values are finite [num_actions], zero for illegal actions, and nothing is valued without a visit."""
    for position, decision in decisions(agent, game, seed=1):
        for array in (decision.visits, decision.values):
            assert array.shape == (game.num_actions,), f"{agent}: shape {array.shape}"
            assert np.isfinite(array).all(), f"{agent}: {array}"
            illegal = np.delete(array, position.legal_actions())
            assert not illegal.any(), f"{agent} says {array} where {position.legal_actions()} are legal"
        assert (decision.visits >= 0).all() and (decision.visits == np.floor(decision.visits)).all()
        assert not decision.values[decision.visits == 0].any(), f"{agent} values an action without a visit"
        assert decision.nodes >= decision.visits.sum() and decision.seconds >= 0
        if decision.visits.any():
            assert decision.visits[decision.action] > 0, f"{agent} chose an action without a visit"


def law_best_mean(agent: Agent, game: Game) -> None:
    """The max-child rule (Kutsch 2017, 4.1): of the actions that were tried, one with the best mean is played."""
    for _, decision in decisions(agent, game, seed=1):
        tried = decision.visits > 0
        if tried.any():
            best = decision.values[tried].max()
            assert decision.values[decision.action] == best, f"{agent} chose {decision.action} of {decision.values}"


def law_forced(agent: Agent, game: Game) -> None:
    """A single legal action is played at once: with no more than one look."""
    seen = 0
    for position, decision in decisions(agent, game, seed=1):
        if len(position.legal_actions()) == 1:
            seen += 1
            assert decision.action == position.legal_actions()[0]
            assert decision.nodes <= 1, f"{agent} took {decision.nodes} nodes for a forced action"
    assert seen or str(game) in SPE_ED_GAMES


def specs(agent: Agent, game: Game, count: int = 2) -> list[MatchSpec]:
    """Returns matches of an agent against itself."""
    seats = (agent.full_text(),) * game.num_seats
    return [MatchSpec(game.full_text(), seats, seed, MAX_PLIES) for seed in range(count)]


def timeless(record: MatchRecord) -> MatchRecord:
    """Returns a record without its seconds, the only thing that may differ."""
    return dataclasses.replace(record, seconds=0.0, seat_seconds=())


def law_compiled(agent: Agent, game: Game) -> None:
    """A match in compiled code equals the match played in Python, move for move and node for node."""
    matches = specs(agent, game)
    for fast, slow in zip(play_matches(matches), play_matches(matches, python=True), strict=True):
        assert timeless(fast) == timeless(slow), f"{fast} in compiled code, {slow} in Python"


def law_plays(agent: Agent, game: Game) -> None:
    """Every match of an agent that can play a game ends as a match should."""
    for record in play_matches(specs(agent, game)):
        assert record.termination in (Termination.NORMAL, Termination.LIMIT), record.error
        assert sum(record.decisions) > 0 and np.isfinite(record.scores).all()


PLAYING: tuple[Law, ...] = (
    law_legal,
    law_untouched,
    law_seed,
    law_blind_to_chance,
    law_arrays,
    law_forced,
    law_compiled,
    law_plays,
)


# Agents that play the action with the best mean, where they have no `final` that says otherwise.
BEST_MEAN = ("alphabeta", "expectimax", "greedy", "maxn", "mc", "mcts", "mctse", "root_parallel")


def laws_of(agent: Agent) -> tuple[Law, ...]:
    """Returns the laws that a registry agent keeps when it plays."""
    best_mean = agent.name in BEST_MEAN and getattr(agent, "final", "max") == "max"
    return (*PLAYING, law_best_mean) if best_mean else PLAYING


def law_text(agent: Declared) -> None:
    """Both text forms make the same agent again; the full one names every parameter, at every depth.

    But for those that came later and have their default, so that stored games keep their ids.
    """
    registry = {"agent": AGENTS, "evaluator": EVALUATORS}[agent.kind]
    for text in (str(agent), agent.full_text()):
        made: Any = registry.make(text)
        assert made == agent and type(made) is type(agent), f"{text} made {made}"
        assert str(made) == str(agent) and made.full_text() == agent.full_text()

    def complete(declared: Declared, spec: Any) -> None:
        names = {
            field.name
            for field, info in parameters_of(type(declared))
            if not info.later or getattr(declared, field.name) != field.default
        }
        assert set(spec.parameters) == names, f"the full text of {declared.name} names {set(spec.parameters)}"
        for key, value in spec.parameters.items():
            nested = getattr(declared, key)
            if isinstance(nested, Declared):
                complete(nested, value)

    complete(agent, agent.spec(defaults=True))


def law_declared(cls: type[Declared]) -> None:
    """Every field is declared, with a help text and a range that holds its default, or choices; the class has a doc."""
    declared = {field.name for field, _ in parameters_of(cls)}
    assert {field.name for field in dataclasses.fields(cls)} == declared, f"{cls.name} has fields without parameter()"
    documented = cls.__doc__ and not cls.__doc__.startswith(f"{cls.__name__}(")
    assert cls.name and documented, f"{cls.__name__} has no docstring"
    for field, info in parameters_of(cls):
        assert info.help.strip(), f"{cls.name}: {field.name} has no help text"
        if isinstance(field.default, bool | Declared):
            continue
        if info.choices:
            assert field.default in info.choices
            continue
        if isinstance(field.default, str):
            continue  # names something outside, such as a file
        assert info.low is not None and info.high is not None, f"{cls.name}: {field.name} has no range"
        assert info.low <= field.default <= info.high
        low, high = info.search or (info.low, info.high)
        assert info.low <= low < high <= info.high, f"{cls.name}: {field.name} is searched outside of its range"
        assert not info.log or low > 0, f"{cls.name}: {field.name} cannot be logarithmic from {low}"


def law_sentence(reason: str | None) -> None:
    """`cannot_play` answers with a sentence that says what does not fit and what to do."""
    assert reason is not None and len(reason.split()) >= 5, f"no sentence: {reason}"
    assert reason.endswith(".") and "\n" not in reason and not reason.endswith("..")
