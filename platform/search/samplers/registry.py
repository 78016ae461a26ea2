"""Every sampler by name; a new one is one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.parameters import Registry

if TYPE_CHECKING:
    from ..space import Space
    from .sampler import Sampler

MANY = 13  # searched parameters from which on adapted learning rates are too slow,
FEW = 200  # with at most so many games for each, see docs/results/search_benchmark.md
SAMPLERS: Registry[Sampler] = Registry(
    "sampler",
    {
        "cmaes": "turnier.search.samplers.cmaes:Cmaes",
        "cmaes_lr": "turnier.search.samplers.cmaes_lr:CmaesLr",
        "duels": "turnier.search.samplers.duels:Duels",
        "gp": "turnier.search.samplers.gp:Gp",
        "grid": "turnier.search.samplers.grid:Grid",
        "optuna": "turnier.search.samplers.of_optuna:OfOptuna",
        "random": "turnier.search.samplers.random:RandomSampler",
        "spsa": "turnier.search.samplers.spsa:Spsa",
        "tpe": "turnier.search.samplers.tpe:Tpe",
    },
)


def usual_samplers(single_player: bool, against: bool, space: Space, games: int) -> list[Sampler]:
    """Returns the samplers of studies that name none, with open parameters: that for a number of games, then others.

    Args:
        single_player: whether scores count.
        against: whether opponents are named; without any, all pairs duel.
        space: what is searched; learning rates adapt to the noise unless all of it are numbers that always matter, or
            many parameters share few games.
        games: of the search.
    """
    if not single_player:
        return [SAMPLERS.make("duels" if against else "duels(share=0)")]
    if all(d.type is float and not d.options and not d.declared.when for d in space.dimensions):
        return [SAMPLERS.make("cmaes")]
    adapting = SAMPLERS.make("cmaes_lr")
    if space.size < MANY:
        return [adapting]
    both = [SAMPLERS.make("cmaes"), adapting]
    return both if games <= FEW * space.size else both[::-1]
