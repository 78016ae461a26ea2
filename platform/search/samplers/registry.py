"""Every sampler by name; a new one is one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.parameters import Registry

if TYPE_CHECKING:
    from ..space import Space
    from .sampler import Sampler

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


def usual_sampler(single_player: bool, against: bool, space: Space) -> Sampler:
    """Returns the sampler of studies that name none, with open parameters.

    Args:
        single_player: whether scores count.
        against: whether opponents are named; without any, all pairs duel.
        space: what is searched; learning rates adapt to the noise unless all of it are numbers that always matter.
    """
    if not single_player:
        return SAMPLERS.make("duels" if against else "duels(share=0)")
    plain = all(d.type is float and not d.options and not d.declared.when for d in space.dimensions)
    return SAMPLERS.make("cmaes" if plain else "cmaes_lr")
