"""Games of OpenSpiel keep the laws, count positions as pyspiel does, and say in a sentence what cannot be played."""

from __future__ import annotations

import random
import sys

import pyspiel
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.contract.games.laws import GAME_LAWS
from turnier.contract.games.playouts import law_playout_distribution
from turnier.contract.law import check_laws
from turnier.core.errors import UserError
from turnier.games.abi import CHANCE
from turnier.games.game import Position
from turnier.games.open_spiel.game import SHARING, OpenSpiel
from turnier.games.perft import perft
from turnier.games.registry import make_game

ENOUGH = 300  # positions below which perft goes a ply deeper
QUICK = ("tic_tac_toe", "connect_four", "pig", "einstein_wurfelt_nicht")  # chance later, chance at the start
SLOW = {"bridge": "its returns play every deal open-handed, a minute for the laws"}
REFUSED = {  # loadable by themselves
    "bridge_uncontested_bidding": "must list its chance outcomes",
    "crossword": "must have from 1 to 1,000,000 actions",
    "mfg_crowd_modelling": "must have seats that move",
    "mfg_crowd_modelling_2d": "must have seats that move",
    "mfg_dynamic_routing": "must have seats that move",
    "mfg_garnet": "must have seats that move",
    "negotiation": "must list its chance outcomes",
    "stones_and_gems": "must list its chance outcomes",
    "tarok": "must list its chance outcomes",
}
KINDS = {kind.short_name: kind for kind in pyspiel.registered_games()}
LOADABLE = [name for name, kind in KINDS.items() if kind.default_loadable]
PLAYABLE = [name for name in LOADABLE if name not in REFUSED]
OPEN = [name for name in PLAYABLE if not OpenSpiel(name).hidden]  # of perfect information
PERFECT = pyspiel.GameType.Information.PERFECT_INFORMATION
COUNTED = [name for name in PLAYABLE if KINDS[name].information == PERFECT]  # those, and some of simultaneous moves
HIDDEN = [name for name in PLAYABLE if name not in OPEN and name not in SLOW]


def quick_or_long(names: list[str]) -> list[object]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in names]


def child(state: pyspiel.State, action: int) -> pyspiel.State:
    """Returns the next state; pyspiel's own `child` would crash where clones share what they change."""
    if state.get_game().get_type().short_name not in SHARING:
        return state.child(action)
    after = state.get_game().new_initial_state()
    for ply in [*state.history(), action]:
        after.apply_action(ply)
    return after


def leaves(state: pyspiel.State, depth: int) -> tuple[int, int]:
    """Returns what `perft` does by pyspiel alone; outcomes are plies."""
    if state.is_terminal() or depth == 0:
        return 1, int(state.is_terminal())
    counts = [leaves(child(state, action), depth - 1) for action in state.legal_actions()]
    return sum(all_ for all_, _ in counts), sum(ended for _, ended in counts)


def own_leaves(position: Position, depth: int) -> tuple[int, int]:
    """Returns the same by positions of ours, where there is chance, which `perft` does not count."""
    if position.over or depth == 0:
        return 1, int(position.over)
    options = [o for o, _ in position.outcomes()] if position.to_move == CHANCE else position.legal_actions()
    counts = [own_leaves(after(position, option), depth - 1) for option in options]
    return sum(all_ for all_, _ in counts), sum(ended for _, ended in counts)


def after(position: Position, ply: int) -> Position:
    """Plays without looking for the ply among thousands of outcomes."""
    following = position.game.position(position.state)
    position.game.kernels.step(following.state, ply, following.returns)
    return following


def counted(game: OpenSpiel, position: Position) -> int:
    """Compares counts below a position, deeper and deeper; returns the last."""
    state, found, depth = game.live_state(position.state), 0, 0
    while found < ENOUGH and depth < 8:
        depth += 1
        own = own_leaves(position, depth) if game.has_chance else perft(game, position.state, depth)
        assert own == leaves(state, depth), f"{game} {depth} plies below\n{position}"
        found = own[0]
    return found


@pytest.mark.parametrize("name", quick_or_long(COUNTED))
def test_perft_is_that_of_pyspiel(name: str) -> None:
    """From the start, and late in a random game, where it may end."""
    game, choose = OpenSpiel(name), random.Random(1)
    assert counted(game, game.start(1)) > 1
    line = [game.start(1)]
    while not line[-1].over:
        line.append(line[-1].play(choose.choice(line[-1].legal_actions())))
    counted(game, line[len(line) * 9 // 10])
    state = game.live_state(line[-1].state)
    assert line[-1].returns.tolist() == pytest.approx(state.returns())
    assert game.plies(line[-1].state) == state.history()


@pytest.mark.parametrize("name", quick_or_long([*OPEN, *HIDDEN]))
def test_open_spiel_game_keeps_the_laws(name: str) -> None:
    """The playout is that of all games in Python, which others prove."""
    check_laws([law for law in GAME_LAWS if law is not law_playout_distribution], OpenSpiel(name))


def test_nearly_all_loadable_games_are_played() -> None:
    assert (len(OPEN), len(COUNTED), len(HIDDEN)) >= (41, 48, 62)


@pytest.mark.parametrize(("name", "sentence"), REFUSED.items())
def test_a_game_that_cannot_be_played_says_why(name: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        OpenSpiel(name)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("conect_four", "There is no game of OpenSpiel named 'conect_four'; did you mean connect_four"),
        ("connect_four(rows=abc)", "must fit OpenSpiel, got its error: Wrong type for parameter rows"),
        ("connect_four(rows=0)", "must be playable, got a crash of OpenSpiel in a trial"),
        ("connect_four(", "must fit OpenSpiel, got its error: Missing closing bracket"),
        ("misere", "must fit OpenSpiel, got its error: Missing parameter game"),
        ("kuhn_poker(players=7)", "must have 1 to 6 seats, got 7"),
    ],
)
def test_wrong_texts_are_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        OpenSpiel(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["goofspiel", "kuhn_poker", "matching_pennies_3p"])
def test_simultaneous_and_hidden_games_are_played_at_random(name: str) -> None:
    game = OpenSpiel(name)
    record = play_match(MatchSpec(game.full_text(), ("random",) * game.num_seats, 1))
    assert record.termination == Termination.NORMAL and game.hidden


def test_parameters_of_a_game_are_played() -> None:
    game = OpenSpiel("connect_four(rows=4,columns=5)")
    assert str(game) == 'openspiel(game="connect_four(rows=4,columns=5)")'
    assert game.num_actions == 5 and game.max_length == 20
    position = game.start()
    assert game.move_text(position.state, 3) == "x3" and game.move_of(position.state, "X3") == 3


def test_without_the_package_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    for make, text in ((make_game, "openspiel"), (make_agent, "openspiel_bot")):
        with pytest.raises(UserError, match=r"pip install 'turnier\[openspiel\]'"):
            make(text)
    assert make_agent("openspiel_mcts").cannot_play(make_game("tictactoe"))  # naming it needs nothing
