"""Studies: search for the parameters with which an agent plays best, and measure them in held-out games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.workers.make import make_executor
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.search.definition import StudyDefinition
from turnier.search.final_comparison import START, FinalComparison, Finalist
from turnier.search.noise import NOISES
from turnier.search.objective import Objective
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.space import read_parameters
from turnier.search.storage.trials import trials_frame
from turnier.search.study_run import StudyRun

MIN_HELD_OUT, MAX_HELD_OUT = 20, 500  # held-out games of each finalist, by default
HELD_OUT_SHARE = 50  # games of the budget per held-out game of a finalist


def held_out_games(requested: int, budget: int) -> int:
    """Returns the number of held-out games of a finalist: as requested, or, with 0, as suits the budget in games."""
    return requested or max(MIN_HELD_OUT, min(MAX_HELD_OUT, budget // HELD_OUT_SHARE))


class Study:
    """A search over the parameters of an agent."""

    def __init__(
        self,
        game: str | Game,
        agent: str | Agent,
        parameters: Sequence[str],
        *,
        against: Sequence[str | Agent] = (),
        sampler: str = "cmaes",
        noise: str = "",
        seed: int = 1,
        name: str = "",
    ) -> None:
        """Plans a study; raises UserError where it cannot be run.

        Args:
            game: such as "2048".
            agent: where the search starts; it fixes what is not searched.
            parameters: to search, such as ["rollout_depth=0..50", "evaluator.*"].
            against: opponents; without any, single-player games count the mean score.
            sampler: cmaes, cmaes_lr, tpe, gp, random, grid or spsa, with parameters where needed.
            noise: number of games per candidate: fixed, growing, reevaluated or racing; empty = what suits the sampler.
            seed: the same seed gives the same search, whatever the number of workers.
            name: of the study in the store; empty = derived from its settings.
        """
        self.game, self.agent = GAMES.make(game), AGENTS.make(agent)
        self.parameters = read_parameters(",".join(parameters))
        self.against = tuple(AGENTS.make(opponent).full_text() for opponent in against)
        self.sampler = SAMPLERS.make(sampler)
        self.noise = NOISES.make(noise or self.sampler.usual_noise)
        self.seed, self.name = seed, name

    def definition(self, budget: int) -> StudyDefinition:
        """Returns what is stored of the study; what was left open is chosen to suit a budget in games."""
        unit = Objective(self.game, self.against, self.seed).unit_games
        sampler = self.sampler.within(budget // (unit * self.noise.max_games(0, 1)))
        texts = self.game.full_text(), self.agent.full_text(), self.parameters
        if self.name:
            return StudyDefinition(
                self.name, *texts, str(sampler), str(self.noise), against=self.against, seed=self.seed
            )
        return StudyDefinition.named_by_content(
            *texts, sampler=str(sampler), noise=str(self.noise), against=self.against, seed=self.seed
        )

    def run(
        self,
        store: Store,
        *,
        budget: int = 5000,
        held_out: int = 0,
        baselines: Mapping[str, Agent] | None = None,
        executor: str = "threads",
        workers: int | None = None,
        address: str | None = None,
        progress: bool = True,
    ) -> StudyResults:
        """Searches, then plays held-out games; stopped in any way, the same call resumes it.

        Args:
            store: where candidates and games go.
            budget: games of the candidates in all.
            held_out: held-out games of each finalist; 0 = as suits the budget.
            baselines: agents by label that play the held-out games, too.
            executor: what plays: ray, threads or serial.
            workers: their number, by default one per core.
            address: the Ray cluster to join.
            progress: whether bars are shown.
        """
        run = StudyRun(store, self.definition(budget), progress)
        games = held_out_games(held_out, budget)
        with make_executor(executor, workers, address) as pool:
            run.run_budget(budget, pool)
            chosen = run.finalists(START, baselines)
            final = run.play_final(chosen, max(2, games // run.objective.unit_games), pool)
        return StudyResults(store, run.run_id, run, chosen, final)


@dataclass(frozen=True, repr=False)
class StudyResults(RunResults):
    """The results of a study."""

    run: StudyRun
    finalists: Mapping[str, Finalist]  # by label
    final: FinalComparison

    @property
    def recommended(self) -> Agent:
        """The agent that the search recommends: never the luckiest candidate."""
        return self.run.recommended()

    def trials(self) -> pd.DataFrame:
        """Returns one row per candidate: parameters, value, games, generation."""
        return trials_frame(self.store, self.run.definition.name)

    def held_out(self) -> pd.DataFrame:
        """Returns one row per finalist: what the search claimed, and held-out games with their 95 % intervals."""
        return pd.DataFrame([asdict(figures) for figures in self.final.figures])

    def table(self) -> pd.DataFrame:
        return self.held_out().set_index("label")
