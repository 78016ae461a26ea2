"""Every registry agent keeps the laws of turnier.contract.agents, and broken agents prove that each law can fail."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.agents import agent_cases as cases
from tests.agents import broken_agents as broken
from tests.playing import played
from turnier.agents.agent import Agent
from turnier.agents.ensembles.ensemble import Ensemble
from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.agents.seats.limited import Limited
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match, play_matches
from turnier.contract import agents as contract
from turnier.contract.declarations import law_parameters, law_text
from turnier.contract.law import Law, check_laws
from turnier.core.errors import UserError
from turnier.core.parameters import Declared, parameters_of
from turnier.games.registry import make_game

ALL_VARIANTS = [agent for name in AGENTS.names() for agent in cases.variants(name)]
WITHOUT_CHANCE = ("alphabeta", "maxn", "perfect")  # agents that play games without chance only
ONLY_2048 = {name for name in EVALUATORS.names() if name.endswith("2048")}  # evaluators of no other game
FOR_2048 = [
    agent
    for agent in ALL_VARIANTS
    if any(name in str(agent) for name in ONLY_2048) and agent.name not in WITHOUT_CHANCE
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is test_agents_keep_the_laws:
        found = cases.cases(metafunc.config.getoption("all_variants"))
        metafunc.parametrize(("agent", "game"), found, ids=str)


def test_agents_keep_the_laws(agent: str, game: str) -> None:
    """One case checks all laws; its message names those that are broken."""
    made = make_agent(agent)
    check_laws(cases.laws_of(made), made, make_game(game))


def test_the_contract_covers_every_agent_evaluator_and_game() -> None:
    """No registry entry escapes: each agent plays each game that it can, each variant plays."""
    found = cases.cases()
    everything = cases.cases(all_variants=True)
    assert set(found) < set(everything) and {agent for agent, _ in found} == {agent for agent, _ in everything}
    of_one_kind = cases.OF_SPE_ED | cases.OF_OPEN_SPIEL | cases.OF_HIDDEN | cases.PROGRAMS
    everywhere = {(a, g) for a in {*AGENTS.names()} - of_one_kind for g in cases.GAMES}
    everywhere |= {(a, g) for a in cases.OF_SPE_ED for g in cases.SPE_ED_GAMES}
    everywhere |= {(a, g) for a in cases.OF_HIDDEN for g in cases.HIDDEN_GAMES}
    # Others take compiled agents only.
    ensembles = {a for a in AGENTS.names() if issubclass(AGENTS.load(a), Ensemble | Limited)}
    everywhere |= {(a, g) for a in cases.OF_OPEN_SPIEL | ensembles for g in cases.OPEN_SPIEL_GAMES}
    everywhere |= {
        (a, g)
        for a in AGENTS.names()
        for g in cases.SPE_ED_GAMES
        if {"evaluator", "agent"} & {field.name for field, _ in parameters_of(AGENTS.load(a))}
        and make_agent(a).cannot_play(make_game(g)) is None
    }
    without_chance = {(a, g) for a, g in everywhere if a in WITHOUT_CHANCE and g.startswith("2048")}
    assert {(a.partition("(")[0], g) for a, g in found} == everywhere - without_chance
    full = {make_agent(agent).full_text() for agent, _ in found}
    for name in AGENTS.names():
        if "evaluator" in {field.name for field, _ in parameters_of(AGENTS.load(name))}:
            for evaluator in {*EVALUATORS.names()} - (ONLY_2048 if name in WITHOUT_CHANCE else set()):
                assert any(text.startswith(f"{name}(") and f"={evaluator}(" in text for text in full), (name, evaluator)


@pytest.mark.parametrize("game", cases.GAMES)
def test_laws_look_at_positions_with_a_single_legal_action(game: str) -> None:
    assert any(len(position.legal_actions()) == 1 for position in contract.positions(make_game(game)))


@pytest.mark.parametrize("name", AGENTS.names() + EVALUATORS.names())
def test_parameters_are_declared(name: str) -> None:
    law_parameters((AGENTS if name in AGENTS.names() else EVALUATORS).load(name))


@pytest.mark.parametrize("name", AGENTS.names())
def test_text_forms_make_the_same_agent(name: str) -> None:
    for agent in cases.variants(name):
        check_laws([law_text], agent)


@pytest.mark.parametrize("name", EVALUATORS.names())
def test_text_forms_make_the_same_evaluator(name: str) -> None:
    evaluator = EVALUATORS.make(name)
    law_text(evaluator)
    changed = {
        field.name: not field.default if isinstance(field.default, bool) else type(field.default)(info.high)
        for field, info in parameters_of(type(evaluator))
        if info.high is not None or isinstance(field.default, bool)
    }
    law_text(evaluator.replace(**changed))


def law_unfit(agent: Agent, game: str) -> None:
    """Some evaluators are for 2048 or its 4x4 board: `cannot_play`, `start` and a match say so and name the game."""
    (evaluator,) = (name for name in ONLY_2048 if name in str(agent))
    reason = agent.cannot_play(make_game(game))
    cases.law_sentence(reason)
    assert evaluator in str(reason) and game in str(reason)
    with pytest.raises(UserError, match=evaluator):
        agent.start(make_game(game))
    spec = MatchSpec(game, (agent.full_text(),) * make_game(game).num_seats, 1)
    with pytest.raises(UserError, match=evaluator):
        play_match(spec)
    assert agent.cannot_play(make_game("2048")) is None


@pytest.mark.parametrize("game", ["tictactoe", "2048(size=3)", "2048(size=2)"])
def test_unfit_agents_say_so_in_a_sentence(game: str) -> None:
    for agent in FOR_2048:
        if game == "tictactoe" or "tile2048" not in str(agent):  # which fits boards of any size
            check_laws([law_unfit], agent, game)


@pytest.mark.parametrize("name", ["random", "mc", "mcts", "mctse", "greedy", "majority", "perfect", "root_parallel"])
def test_other_seeds_play_other_games(name: str) -> None:
    """Where an agent draws random numbers, another seed gives other decisions in the same positions."""
    agent, game = cases.small(name), make_game("tictactoe")
    if name == "greedy":
        agent = agent.replace(evaluator=EVALUATORS.make("rollout"))
    runs = [[decision for _, decision in contract.decisions(agent, game, seed)] for seed in range(1, 6)]
    equal = [all(map(contract.same, runs[0], run)) for run in runs[1:]]
    assert not any(equal)
    assert len({tuple(decision.action for decision in run) for run in runs}) > 1


def test_every_agent_of_ours_declares_whether_it_draws() -> None:
    """All but programs and bots of others, whose games show it, and searches that only the clock makes differ."""
    game = make_game("tictactoe")
    found = {name: cases.small(name).draws_numbers(game) for name in AGENTS.names()}
    assert {name for name, draws in found.items() if draws is None} == {"gtp", "json", "ludii", "openspiel_bot", "uci"}
    assert {"alphabeta", "greedy", "maxn"} < {name for name, draws in found.items() if draws is False}
    for agent, expected in [
        ("greedy(evaluator=rollout)", True),
        ("greedy(evaluator=rollout,rollout_depth=0)", False),
        ("alphabeta(milliseconds=5)", None),
        ("mcts(milliseconds=5)", True),
        ("majority(agent=greedy)", False),
        ("limited(agent=majority(agent=random))", True),
        ("puct(evaluator=score)", False),
    ]:
        assert make_agent(agent).draws_numbers(game) is expected, agent
    assert make_agent("puct(evaluator=score)").draws_numbers(make_game("2048")) is True


@pytest.mark.parametrize("game", cases.GAMES)
def test_the_random_agent_plays_every_legal_action_alike(game: str) -> None:
    """Each of n legal actions is drawn with probability 1/n: 500 draws stay within five standard errors."""
    position = contract.positions(make_game(game))[0]
    legal = position.legal_actions()
    assert len(legal) > 1
    player = make_agent("random").start(position.game, position.to_move, 3)
    draws = 500
    counts = np.bincount([player.act(position).action for _ in range(draws)], minlength=position.game.num_actions)
    share = 1 / len(legal)
    assert (np.abs(counts[legal] - draws * share) < 5 * np.sqrt(draws * share * (1 - share))).all()
    assert counts[legal].sum() == draws


ALL_LAWS: tuple[Law, ...] = (*contract.AGENT_LAWS, cases.law_best_mean)
# What each broken agent breaks. Python agents have no kernels, so that the laws' other halves do not hide the failure.
BREAKS: list[tuple[Law, type[Agent], str]] = [
    (contract.law_legal, broken.Illegal, "tictactoe"),
    (contract.law_legal, broken.Outside, "2048(size=2)"),
    (contract.law_legal, broken.CompiledIllegal, "tictactoe"),
    (contract.law_untouched, broken.ChangesState, "2048(size=3)"),
    (contract.law_untouched, broken.ChangesReturns, "tictactoe"),
    (contract.law_untouched, broken.DrawsChance, "2048(size=3)"),
    (contract.law_kernel_changes_nothing, broken.CompiledChangesState, "tictactoe"),
    (contract.law_kernel_changes_nothing, broken.CompiledRemembers, "2048(size=2)"),
    (contract.law_kernel_changes_nothing, broken.CompiledWritesOutside, "tictactoe"),
    (contract.law_seed, broken.GlobalRandom, "tictactoe"),
    (contract.law_draws, broken.DeniesDrawing, "tictactoe"),
    (contract.law_blind_to_chance, broken.Peeks, "2048(size=3)"),
    (contract.law_blind_to_secrets, broken.SeesSecrets, "openspiel(game=kuhn_poker)"),
    (contract.law_arrays, broken.WrongShape, "tictactoe"),
    (contract.law_arrays, broken.ValuesIllegal, "tictactoe"),
    (cases.law_best_mean, broken.PlaysWorst, "tictactoe"),
    (contract.law_forced, broken.ThinksLong, "2048(size=2)"),
    (contract.law_compiled, broken.TwoFaced, "tictactoe"),
    (contract.law_compiled, broken.HidesNodes, "2048(size=2)"),
    (contract.law_compiled, broken.CompiledRemembers, "2048(size=3)"),
    (contract.law_together, broken.TogetherFirst, "2048"),
    (contract.law_plays, broken.Raises, "tictactoe"),
    (contract.law_plays, broken.Outside, "2048(size=2)"),
    (contract.law_plays, broken.CompiledIllegal, "2048(size=2)"),
]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Agent]], Agent]:
    """Puts a broken agent into the registry for one test, under a name of its own."""

    def put(cls: type[Agent]) -> Agent:
        monkeypatch.setattr(cls, "name", f"broken-{cls.__name__.lower()}")
        monkeypatch.setitem(AGENTS.places, cls.name, f"{broken.__name__}:{cls.__name__}")
        return cls()

    return put


@pytest.mark.parametrize(("law", "cls", "game"), BREAKS, ids=lambda value: getattr(value, "__name__", None))
def test_every_law_can_fail(law: Law, cls: type[Agent], game: str, register: Any) -> None:
    """A broken agent is caught and the message names the law that it breaks, where a whole one passes."""
    random.seed(1)
    agent = register(cls)
    with pytest.raises(AssertionError, match=re.escape(f"{law.__name__} is broken by {agent} in {game}: ")):
        check_laws(ALL_LAWS, agent, make_game(game))
    check_laws(ALL_LAWS, register(broken.First), make_game(game))


def test_no_law_is_left_without_a_broken_agent() -> None:
    proven = {law for law, _, _ in BREAKS}
    assert proven == set(ALL_LAWS)


@pytest.mark.parametrize(
    "cls", [broken.NoHelp, broken.NoRange, broken.DefaultOutside, broken.LogFromZero, broken.Undeclared]
)
def test_bad_declarations_are_caught(cls: type[Declared]) -> None:
    with pytest.raises(AssertionError):
        law_parameters(cls)
    law_parameters(broken.First)


def test_lost_parameters_are_caught(register: Any) -> None:
    agent = register(broken.Loses)
    with pytest.raises(AssertionError):
        law_text(agent)
    law_text(register(broken.First))


@pytest.mark.parametrize("reason", [None, "", "no.", "heuristics2048 does not fit this game at all"])
def test_bad_sentences_are_caught(reason: str | None) -> None:
    with pytest.raises(AssertionError):
        cases.law_sentence(reason)


def play(agent: Agent, game: str = "tictactoe", **changes: Any) -> Any:
    return played(game, agent, **changes)


@pytest.mark.parametrize("cls", [broken.Outside, broken.CompiledIllegal, broken.ReturnsNothing])
@pytest.mark.parametrize("python", [False, True])
def test_an_illegal_action_ends_the_match_with_a_record(cls: type[Agent], python: bool, register: Any) -> None:
    """A match ends before an illegal action: it is not counted, not a ply, and lost for the seat that chose it."""
    agent = register(cls)
    spec = MatchSpec("tictactoe", (make_agent("random").full_text(), agent.full_text()), 1)
    record, after = play_matches([spec, MatchSpec("tictactoe", ("random", "random"), 1)], python=python)
    assert record.termination in (Termination.ILLEGAL_MOVE, Termination.CRASHED) and record.failed_seat == 1
    assert record.error.startswith(f"seat 1, {agent}: ")
    assert record.decisions == (1, 0) and record.scores == (1.0, -1.0)
    assert after.termination is Termination.NORMAL


def test_an_agent_that_raises_ends_its_own_match_only(register: Any) -> None:
    """The record keeps the agent, the kind of failure and its text, and the moves so far; the next match is played."""
    agent = register(broken.Raises)
    specs = [MatchSpec("tictactoe", ("random", agent.full_text()), 1), MatchSpec("tictactoe", ("random", "random"), 1)]
    record, after = play_matches(specs)
    assert record.termination is Termination.CRASHED and record.failed_seat == 1
    assert record.error == f"seat 1, {agent}: ZeroDivisionError: a mistake in the agent"
    assert record.decisions == (1, 0) and record.scores == (1.0, -1.0)
    assert after.termination is Termination.NORMAL


def test_an_agent_that_raises_at_its_start_is_a_record_too(register: Any) -> None:
    agent = register(broken.RaisesAtStart)
    record = play(agent)
    assert (record.termination, record.failed_seat) == (Termination.CRASHED, 0)


@pytest.mark.parametrize("cls", [broken.ChangesState, broken.ChangesReturns, broken.DrawsChance])
def test_an_agent_cannot_change_its_match(cls: type[Agent], register: Any) -> None:
    """Whatever an agent does to the position that it is given, the match continues by the rules, as for `First`."""
    expected, got = play(register(broken.First), "2048(size=2)"), play(register(cls), "2048(size=2)")
    assert (got.termination, got.scores, got.plies) == (expected.termination, expected.scores, expected.plies)


def test_an_agent_cannot_see_the_next_tile(register: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `position.play` draws inside an agent says nothing about what the match will draw.

    The agent foretells the state after its own action; in 2048 on 4x4 that is luck in few of a hundred moves.
    """
    agent = register(broken.Peeks)
    foretold: list[tuple[int, ...]] = []
    seen: list[tuple[int, ...]] = []

    def decide(self: Any, position: Any) -> Any:
        seen.append(tuple(position.state))
        after = position.play(position.legal_actions()[0])
        foretold.append(tuple(after.state))
        return broken.decision(position.game, position.legal_actions()[0])

    monkeypatch.setattr(broken.Peeks, "decide", decide)
    play(agent, "2048", max_plies=100)
    hits = sum(a == b for a, b in zip(foretold, seen[1:], strict=False))
    assert len(seen) > 40 and hits < len(seen) / 2


@pytest.mark.parametrize("value", [1.5, "many", None, True])
def test_values_of_a_wrong_type_are_refused(value: Any) -> None:
    """An agent that can be built in Python can be written as text: whole numbers are whole."""
    with pytest.raises(UserError, match="iterations"):
        make_agent("mc").replace(iterations=value)


def test_equal_agents_have_one_text() -> None:
    """Match ids are hashes of texts, so agents that are equal must read the same."""
    one, other = make_agent("mctse").replace(exploration=1), make_agent("mctse(exploration=1)")
    assert one == other
    assert one.full_text() == other.full_text()


@pytest.mark.parametrize("text", cases.GAMES)
def test_agents_that_depend_on_timing_decide_legally_and_search(text: str) -> None:
    """Milliseconds, and threads on one tree, give a legal decision with nodes, in Python only, and the laws of form."""
    timed = [cases.small(name).replace(milliseconds=3) for name in ("expectimax", "mc", "mcts", "mctse")]
    threaded = [cases.small(name).replace(threads=2) for name in cases.INTERLEAVED]
    both = [cases.small(name).replace(threads=2, milliseconds=3) for name in ("mc", "mctse")]
    laws = (
        contract.law_legal,
        contract.law_untouched,
        contract.law_arrays,
        cases.law_best_mean,
        contract.law_forced,
    )
    game = make_game(text)
    for agent in timed + threaded + both:
        assert agent.seat_kernels(game) is None
        check_laws(laws, agent, game)
        for position, decision in contract.decisions(agent, game):
            assert decision.nodes > 0 or len(position.legal_actions()) == 1
        record = play(agent, text, max_plies=4)
        assert record.termination is Termination.LIMIT and sum(record.decisions) == 4
        assert sum(record.nodes) > 0
