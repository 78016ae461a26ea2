"""The definition of a study, as it is stored."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..agents.registry import AGENTS
from ..arena.match import derive_seed
from ..core.errors import UserError
from ..games.registry import GAMES
from ..results.store.store import Store
from . import EDITION, FIRST_EDITION
from .noise import NOISES, Fixed
from .objective import Objective
from .samplers.cmaes import Cmaes
from .samplers.registry import SAMPLERS
from .samplers.sampler import MAX_POPULATION

OWN = ("slowest", "known", "from_study", "also", "scales")  # fields of studies for strength, stored if they are set
LATER = ("edition", "begun_as", "openings", *OWN)  # fields that earlier versions lacked


def later_form(edition: int, begun_as: str = "", openings: int = 0) -> dict[str, Any]:
    """Returns what definitions store of the fields that earlier versions lacked: nothing if they had no choice."""
    known: dict[str, Any] = {"edition": edition} if edition > FIRST_EDITION else {}
    return known | ({"begun_as": begun_as} if begun_as else {}) | ({"openings": openings} if openings else {})


@dataclass(frozen=True)
class StudyDefinition:
    """The definition of a study; a stored study is only continued with the same one."""

    name: str
    game: str
    agent: str  # where the search starts; it fixes what is not searched
    parameters: tuple[str, ...]  # paths, see Space.of
    sampler: str = "cmaes"
    noise: str = "fixed"
    against: tuple[str, ...] = ()
    seed: int = 1
    edition: int = EDITION  # see turnier.search
    begun_as: str = ""  # the name of a renamed study when it began
    openings: int = 0  # plies at the most, after which games begin
    slowest: float = 0.0  # milliseconds per decision beyond which a candidate counts as lost; 0 = no limit
    known: tuple[str, ...] = ()  # full texts of agents that are tried first
    from_study: str = ""  # the earlier study that they are from
    also: tuple[str, ...] = ()  # further games
    scales: tuple[float, ...] = ()  # see Objective

    def __post_init__(self) -> None:
        SAMPLERS.make(self.sampler), NOISES.make(self.noise)
        if self.seed < 0:
            raise UserError(f"a seed must be 0 or larger, got {self.seed}.")

    @property
    def objective(self) -> Objective:
        own = (self.begun_as or self.name) if self.edition > FIRST_EDITION else ""
        games = GAMES.make(self.game), tuple(map(GAMES.make, self.also))
        return Objective(
            games[0], self.against, self.seed, own, self.agent, self.openings, also=games[1], scales=self.scales
        )

    @property
    def stored(self) -> dict[str, Any]:
        """The stored form; plain CMA-ES studies keep the form from before there were other samplers."""
        sampler, noise = SAMPLERS.make(self.sampler), NOISES.make(self.noise)
        later = later_form(self.edition, self.begun_as, self.openings)
        later |= {name: value for name in OWN if (value := getattr(self, name))}
        plain = isinstance(sampler, Cmaes) and sampler == Cmaes(population=sampler.population, sigma=sampler.sigma)
        if plain and isinstance(noise, Fixed) and not self.against:
            assert isinstance(sampler, Cmaes)
            kept = {key: getattr(self, key) for key in ("name", "game", "agent", "parameters", "seed")}
            population = sampler.population or MAX_POPULATION
            steps = {"population": population, "games": noise.games, "sigma": sampler.sigma, "sampler": sampler.name}
            return kept | steps | later
        known = {key: value for key, value in asdict(self).items() if key not in LATER} | later
        return known | {"sampler": sampler.full_text(), "noise": noise.full_text()}

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> StudyDefinition:
        """Returns the definition with this stored form."""
        given = {"edition": FIRST_EDITION} | dict(stored)
        if "population" in given:
            given["noise"] = Fixed(games=given.pop("games")).full_text()
            given["sampler"] = Cmaes(population=given.pop("population"), sigma=given.pop("sigma")).full_text()
        given |= {
            key: tuple(given[key]) for key in ("parameters", "against", "known", "also", "scales") if key in given
        }
        return cls(**given)

    @classmethod
    def named_by_content(cls, game: str, agent: str, parameters: tuple[str, ...], **rest: Any) -> StudyDefinition:
        """Returns a definition named after its content: equal settings resume a study, others begin a new one."""
        definition = cls("", game, agent, parameters, **rest, edition=FIRST_EDITION)  # so that names never change
        short = f"{derive_seed(json.dumps(definition.stored, sort_keys=True)):016x}"[:6]
        name = f"{GAMES.make(game).name}-{AGENTS.make(agent).name}-{short}"
        return cls(name, game, agent, parameters, **rest)


def stored_definitions(store: Store) -> Iterator[StudyDefinition]:
    """Yields the stored definitions of studies for strength that this version can read, the newest first."""
    for run in reversed(store.runs()):
        if run.kind == "study" and "agent" in run.definition and "objectives" not in run.definition:
            with contextlib.suppress(UserError):
                yield StudyDefinition.of_stored(run.definition)
