"""Comparison of Ludii's rules with ours, and of its sites with our board, by random games of ours."""

from __future__ import annotations

from ...core.errors import UserError
from ...core.rng import below, stream
from ...games.game import Game, Position
from .bridge import Bridge
from .games import PASS, LudiiGame, Moves, possible_moves, swap_action

GAMES = 6
RANDOM = "Random"  # Ludii's agent, which takes part but is not asked


def moves_that_agree(bridge: Bridge, game: Game, ludii: LudiiGame) -> Moves:
    """Returns Ludii's words for our actions; raises UserError if the rules differ with any placement of its sites."""
    games = [_random_game(game, seed) for seed in range(GAMES)]
    first = ""
    for moves in possible_moves(game, bridge.load(ludii)):
        said = next((said for each in games if (said := _disagreement(bridge, each, ludii, moves))), None)
        if said is None:
            return moves
        first = first or said
    raise UserError(
        f"Ludii's {ludii.file} differs from {game}: {first}; name the options of your version of Ludii by options=."
    )


def _random_game(game: Game, seed: int) -> list[tuple[Position, int]]:
    """Returns the positions of a random game, each with the next action, -1 at its end; with an even seed it swaps."""
    rng, position = stream(seed), game.start(seed)
    found = []
    while not position.over:
        legal = position.legal_actions()
        action = legal[below(rng, len(legal))]
        if seed % 2 == 0 and swap_action(game) in legal:
            action = swap_action(game)
        found.append((position, action))
        position = position.play(action)
    return [*found, (position, -1)]


def _disagreement(bridge: Bridge, played: list[tuple[Position, int]], ludii: LudiiGame, moves: Moves) -> str | None:
    bridge.begin(ludii, RANDOM)
    swapped = False
    for position, action in played:
        said = difference(bridge, position, moves, swapped)
        if said or position.over:
            return said
        bridge.play([moves.word(action, swapped)])
        swapped = swapped or action == swap_action(position.game)
    return None


def difference(bridge: Bridge, position: Position, moves: Moves, swapped: bool) -> str | None:
    """Returns how Ludii's match differs from the position, or None."""
    if position.over:
        while bridge.situation.moves == (PASS,):  # ours is over as soon as nobody can move
            bridge.play([PASS])
        ranks = tuple(1 + (1 - float(value)) * (len(position.returns) - 1) / 2 for value in position.returns)
        got = bridge.situation.ranks
        return None if got == ranks else f"ranks must be {ranks}, got {got or 'no end'}"
    situation = bridge.situation
    if situation.seat != position.to_move:
        return f"seat {position.to_move} must move, got {'the end' if situation.over else situation.seat}"
    ours = {moves.word(action, swapped) for action in position.legal_actions()}
    if ours != set(situation.moves):
        only = sorted(ours ^ set(situation.moves))
        return f"moves must be {len(ours)} as ours, got {len(set(situation.moves))}; not in both: {', '.join(only[:5])}"
    return None
