"""Swiss tournaments: each round pairs agents with similar points, for fields too large for a round robin."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from ...agents.agent import Agent
from ...core.errors import UserError
from ...games.game import Game
from ..match import MatchRecord
from .round_robin import Rounds, check_field, matches_of


def swiss(
    game: Game, agents: Sequence[Agent], games: int, seed: int, rounds: int = 0, own_seeds: bool = False
) -> Rounds:
    """Yields rounds in which every agent plays one group of equally strong agents in all roles; see `Rounds`.

    Two seats: pairs that have not met, with the smallest squared differences of points. More seats: the order of
    points, cut into groups. Agents left over, the lowest of those that sat out least often, sit out and get the points
    of a win.

    Args:
        agents: different ones, more than the game has seats.
        games: matches per group and round, rounded up to whole sets of seat orders on one seed.
        seed: as in `round_robin`.
        rounds: number of rounds; 0 = `rounds_to_the_best`.
        own_seeds: see `matches_of`; otherwise all groups of a round play on the same seeds.
    """
    texts = check_field(game, agents, games, seed)
    if game.num_seats < 2:
        raise UserError(f"a Swiss tournament needs a game of two or more seats, got {game}; use round_robin.")
    if len(set(texts)) < len(texts) or len(texts) <= game.num_seats:
        raise UserError(
            f"a Swiss tournament of {game} must have more than {game.num_seats} agents, none twice, got"
            f" {len(texts)}; use round_robin."
        )
    return _rounds(game, texts, games, seed, rounds or rounds_to_the_best(len(texts), game.num_seats), own_seeds)


def rounds_to_the_best(agents: int, seats: int) -> int:
    """Returns the number of rounds after which one agent is unbeaten if the better one always wins."""
    rounds = 1
    while seats**rounds < agents:
        rounds += 1
    return rounds


def _rounds(game: Game, agents: list[str], games: int, seed: int, rounds: int, own_seeds: bool) -> Rounds:
    points: Counter[str] = Counter(dict.fromkeys(agents, 0))
    sat_out: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for number in range(rounds):
        ordered = sorted(agents, key=lambda agent: -points[agent])  # equal agents in the given order
        resting = sorted(reversed(ordered), key=lambda agent: sat_out[agent])[: len(agents) % game.num_seats]
        playing = [agent for agent in ordered if agent not in resting]
        groups = _pairs(playing, points, met) if game.num_seats == 2 else _groups(playing, game.num_seats)
        specs = list(matches_of(game, groups, games, (seed, number), [()], own_seeds=own_seeds))
        records = yield specs
        points.update(match_points(records))
        for group in groups:
            met.update(frozenset(pair) for pair in itertools.combinations(group, 2))
        for agent in resting:
            points[agent] += 2 * (game.num_seats - 1) * (len(specs) // len(groups))
        sat_out.update(resting)


def match_points(records: Iterable[MatchRecord]) -> Counter[str]:
    """Returns each agent's points: 2 for every seat with a lower score, 1 for every seat with the same score.

    Void matches do not count.
    """
    points: Counter[str] = Counter()
    for record in records:
        if not record.termination.has_result:
            continue
        for (agent, score), (other, other_score) in itertools.permutations(
            zip(record.spec.agents, record.scores, strict=True), 2
        ):
            if agent != other:
                points[agent] += 2 if score > other_score else int(score == other_score)
    return points


def _pairs(agents: list[str], points: Counter[str], met: Counter[frozenset[str]]) -> list[tuple[str, ...]]:
    import networkx  # slow to import, and unused by other formats

    graph = networkx.Graph()
    # A second meeting costs more than all squared differences of points together can.
    rematch = 1 + len(agents) * (max(map(points.__getitem__, agents)) - min(map(points.__getitem__, agents))) ** 2
    for first, second in itertools.combinations(agents, 2):
        cost = (points[first] - points[second]) ** 2 + rematch * met[frozenset((first, second))]
        graph.add_edge(first, second, weight=-cost)
    matched = networkx.max_weight_matching(graph, maxcardinality=True)
    place = {agent: i for i, agent in enumerate(agents)}
    return sorted((tuple(sorted(pair, key=place.__getitem__)) for pair in matched), key=lambda pair: place[pair[0]])


def _groups(agents: list[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(agents[i : i + size]) for i in range(0, len(agents), size)]
