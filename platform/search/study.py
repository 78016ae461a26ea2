"""Studies: searches for the parameters with which an agent plays best, or balances strength with another objective."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import MAX_GAMES, UserError, require_at_most
from ..runs.declared.options import GameOption, OpeningsOption, Option, SeedOption
from ..runs.plan import Plan, Playing
from . import EARLIER_VERIFY, POSITIONS, VERIFY

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

    from ..agents.agent import Agent
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .definition import StudyDefinition
    from .noise import Noise
    from .planning import Question
    from .samplers.sampler import Sampler
    from .storage.forecast import Forecast, Sample
    from .storage.results import StudyResults


class Study(Plan["StudyResults"]):
    """Search for the parameters with which an agent plays best.

    In single-player games the mean score counts, otherwise the share of points against every opponent in every seat. At
    the end, the agent that the search proposes plays held-out games, which the search has not seen, until a sequential
    test shows that it is better than the start; otherwise the start is kept, and if that is undecided, the command that
    plays on is shown. Repeat the command to resume a search that was stopped; a larger budget continues it.

    \b
    Examples:
      turnier tune 2048 "mc(iterations=10)" --parameters rollout_depth --budget 60
      turnier tune 2048 "mctse(iterations=50,evaluator=heuristics2048)" --parameters "evaluator.*" --budget 5000
      turnier tune yavalath "mcts(iterations=200)" --parameters exploration=0..4 --against "mcts(iterations=300)"
      turnier tune 2048 "mctse(iterations=50,rollout_depth=10)" --parameters iterations=10..1000 \\
        --objectives strength,time
      turnier tune 2048 "mctse(iterations=5)" --parameters "final=max|robust,rollout_depth=50..150:50" --budget 30min
      turnier tune 2048 "expectimax(depth=1,evaluator=rows2048)" --parameters evaluator.empty,evaluator.corner \\
        --sampler "cmaes(population=32)" --noise "racing(games=8)"
      turnier tune "go(size=5,komi=0.5)" "mcts(iterations=100)" --parameters komi=0.5..24.5:4 --balance 5
    """

    kind = "study"
    lasting = "which has searched with them; delete it and start again"

    def __init__(
        self,
        game: GameOption,
        agent: Annotated[
            str | Agent,
            Option("the agent that the search starts from; it fixes all other parameters", complete="agent"),
        ],
        parameters: Annotated[
            str | Sequence[str] | Mapping[str, Sequence[Any] | BaseDistribution],
            Option(
                'parameters to search, such as "rollout_depth=0..50,exploration=0.1..4:log,final=max|robust,'
                'evaluator.*"',
                named=True,
                also="--params",
            ),
        ],
        *,
        budget: Annotated[
            str | int,
            Option(
                "games of the search, not counting held-out games; or the time of both, such as 2h or 30min",
                low=1,
                high=MAX_GAMES,
                more=True,
            ),
        ] = 5000,
        against: Annotated[
            Sequence[str | Agent],
            Option(
                "an opponent, such as random, or 2*random to count twice; repeat for more; default: the start",
                complete="agent",
            ),
        ] = (),
        objectives: Annotated[
            str, Option("strength; for a front by NSGA-II, strength,time or strength,certainty")
        ] = "strength",
        sampler: Annotated[
            str | Sampler | BaseSampler,
            Option(
                "duels, cmaes, cmaes_lr, tpe, gp, random, grid, spsa or one of Optuna, such as"
                " optuna.samplers.TPESampler, with parameters if needed; default: duels if there are opponents, cmaes"
                " for scores",
                complete="sampler",
            ),
        ] = "",
        noise: Annotated[
            str | Noise,
            Option(
                "games per candidate: fixed, growing, reevaluated or racing; default: what suits the sampler",
                complete="noise",
            ),
        ] = "",
        population: Annotated[
            int, Option("candidates per generation of a front; default: as suits the budget", low=0)
        ] = 0,
        positions: Annotated[
            int, Option("positions that each candidate searches repeatedly, if certainty is an objective", low=2)
        ] = POSITIONS,
        name: Annotated[str, Option("name of the study; default: derived from its settings")] = "",
        seed: SeedOption = 1,
        openings: OpeningsOption = 0,
        known: Annotated[
            Sequence[str | Agent],
            Option(
                "a known good agent, the start with other values: tried first, and in the held-out games; repeat for"
                " more",
                complete="agent",
            ),
        ] = (),
        from_study: Annotated[
            str, Option("an earlier study whose recommendation and best candidates are tried first, as far as they fit")
        ] = "",
        also: Annotated[
            Sequence[str | Game],
            Option(
                "a further game that every candidate plays, too; scores are divided by the start's mean; repeat for"
                " more",
                complete="game",
            ),
        ] = (),
        max_per_move: Annotated[
            str,
            Option(
                "candidates that take longer per move, on average, count as lost, such as 50ms; their games are played"
                " to the end, however long a move takes; default: none"
            ),
        ] = "",
        verify: Annotated[
            float,
            Option(
                "maximum held-out games of all finalists, as a share of the budget; default:"
                f" {VERIFY:g}, of a front {EARLIER_VERIFY:g}",
                more=True,
            ),
        ] = 0.0,
        baselines: Annotated[
            Sequence[str | Agent] | Mapping[str, str | Agent],
            Option("an agent that plays the held-out games, too; repeat for more", more=True, complete="agent"),
        ] = (),
        plan: Annotated[
            bool, Option("only say what can be found and shown, and in what time; plays a few games", more=True)
        ] = False,
    ) -> None:
        from .front.second_objective import read_objectives
        from .objective import games_per_second, require_generation
        from .planning import Balance, Strength, labelled

        second = read_objectives(objectives)
        self.question: Question = Balance(self.options, second) if second else Strength(self.options)
        self.game, self.agent = self.question.game, self.question.agent
        self.seconds = read_seconds(budget)  # of the search and the held-out games; 0 = games count
        if second and self.seconds:
            raise UserError(f"a search for a front must have a number of games, got --budget {budget}; write 5000.")
        self.verify, self.baselines = verify, labelled(baselines)
        self._speed = games_per_second(self.question.objective) if self.seconds else 0.0
        self.budget = self._games(1) if self.seconds else read_games(budget)
        if second and self.baselines:
            raise UserError("baselines are for studies of strength; leave them out.")
        self.settled = self.question.settled(self.budget)
        self.question.max_held_out_games(self.settled, verify, self.budget, len(self.baselines))
        self.only_plan = plan
        self._study: Any = None  # in the store in which it has begun
        if not self.seconds:
            require_generation(self.question.generation_games(self.settled), self.budget)

    def _games(self, workers: int) -> int:
        """Returns about how many games a search has time for."""
        return max(1, min(MAX_GAMES, round(self._speed * workers * self._search_seconds)))

    @property
    def _search_seconds(self) -> float:
        """The time of the search; the rest is for the held-out games, in proportion."""
        return self.seconds / (1 + self.verify)

    @property
    def settings(self) -> dict[str, Any]:
        """All options in JSON's types; they make the same study anywhere."""
        from .planning import stored_options

        labels = {label: agent.full_text() for label, agent in self.baselines.items()}
        budget = f"{self.seconds:.12g}s" if self.seconds else self.budget
        played = {"budget": budget, "verify": self.verify} | ({"baselines": labels} if labels else {})
        return stored_options(self.settled.stored) | played

    @property
    def definition(self) -> dict[str, Any]:
        return self.settled.stored

    @property
    def run_id(self) -> str:
        return f"{self.kind}:{self.label}"

    @property
    def label(self) -> str:
        """The name of the study."""
        return self.settled.name

    @property
    def total(self) -> int:
        """The maximum number of games, including those after the search."""
        later = self.question.max_held_out_games(self.settled, self.verify, self.budget, len(self.baselines))
        return self.budget + later

    def forecast(self, workers: int = 1) -> list[str]:
        """Returns what the study can be expected to find and to show, and in what time; plays some games of the start.

        Raises UserError for a search for a front.
        """
        from .definition import StudyDefinition
        from .storage.forecast import measured

        if not isinstance(self.settled, StudyDefinition):
            raise UserError("a plan is made for studies of strength only; leave out --objectives or --plan.")
        sample = measured(self.settled.objective, self.agent.full_text())
        return self._forecast(self.settled, sample).sentences(workers)

    def _forecast(self, settled: StudyDefinition, sample: Sample | None = None) -> Forecast:
        from .space import Space
        from .storage.forecast import Forecast

        size = Space.of(self.agent, settled.parameters).size
        return Forecast(settled, size, self.budget, self.total - self.budget, sample)

    def has_begun(self, store: Store) -> bool:
        """Whether a store has the study, which then continues with the settings for its first budget."""
        self.settled = self.question.settled(self.budget, store)
        return super().has_begun(store)

    def require_playable(self, store: Store) -> None:
        """Raises UserError if all games of a new study would be the same."""
        if not self.has_begun(store):
            self.question.require_different_games()

    def notices(self, store: Store) -> list[str]:
        """Returns sentences on the search, and on a stored study of the same question for another budget."""
        from .definition import StudyDefinition
        from .planning import Strength
        from .samplers.registry import SAMPLERS
        from .space import Space
        from .storage.commands import tune_command

        begun = self.has_begun(store)
        ranges = Space.of(self.agent, self.settled.parameters).described(self.agent)
        said = [f"Study {self.label} searches {ranges}, by {self.question.method(self.settled)}."]
        if not (begun or self.only_plan) and isinstance(self.settled, StudyDefinition):
            said += [line] if (line := self._forecast(self.settled).sentence()) else []
        if not begun and isinstance(self.question, Strength) and (earlier := self.question.same_question(store)):
            said.append(
                f"Study {earlier.name} asks the same with {SAMPLERS.make(earlier.sampler)}; this is a new study. To"
                f" continue that one: {tune_command(store, earlier, self.settings['budget'])}"
            )
        return said

    def begin(self, store: Store, workers: int) -> None:
        """Stores what the study is, for Optuna, too; generations of a new one suit the workers."""
        if self.seconds:
            self.budget = self._games(workers)
        self.settled = self.question.settled(self.budget, store, workers)
        self._study = self.question.open(store, self.settled)
        self._keep_settings(store)

    def play(self, run: Playing) -> None:
        """Searches, then plays held-out games until the verdict, or of the whole front."""
        study = self._study or self.question.open(run.store, self.settled)
        study.drive(run, self.budget, self.verify, self.baselines, *([self._search_seconds] if self.seconds else []))

    @classmethod
    def delete(cls, store: Store, run: Run) -> None:
        """Deletes a study with its candidates."""
        from .storage.study_changes import delete_study

        delete_study(store, run)

    @classmethod
    def rename(cls, store: Store, run: Run, name: str) -> None:
        """Gives a study another name, which changes its id."""
        from .storage.study_changes import rename_study

        rename_study(store, run, name)

    @classmethod
    def parts(cls, store: Store, run: Run) -> dict[str, int]:
        """Returns the number of candidates."""
        from .storage.trials import count_trials, study_names

        return {"candidates": count_trials(store, run.name) if run.name in study_names(store) else 0}

    @classmethod
    def reopened(cls, store: Store, run: Run) -> StudyResults:
        """Returns the results of a stored study: its trials and, once the held-out games are played, its verdict."""
        from .storage.results import FrontResults, StudyResults

        return (FrontResults if "objectives" in run.definition else StudyResults)(store, run.id)

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        from .planning import stored_options

        if "agent" not in run.definition:
            raise UserError(f"{run.id} was made by a script and has no plan of its own; run the script again.")
        return stored_options(run.definition)

    @classmethod
    def _last_settings(cls, store: Store, run: Run) -> dict[str, Any]:
        """Returns the settings of the study; for one of an earlier version the budget is the number of its games."""
        if known := super()._last_settings(store, run):
            return known
        played = int(cls.reopened(store, run).trials()["games"].sum())
        return {"budget": played} if played else {}


def read_seconds(budget: str | int) -> float:
    """Returns the seconds of a budget such as 2h, 1h30min or 90s; 0 for any other text."""
    found = re.fullmatch(r"\s*(?=[0-9])(?:([0-9.]+)\s*h)?\s*(?:([0-9.]+)\s*min)?\s*(?:([0-9.]+)\s*s)?\s*", str(budget))
    try:
        hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0.0, 0.0, 0.0)
    except ValueError:
        return 0.0
    return 3600 * hours + 60 * minutes + seconds


def read_games(budget: str | int) -> int:
    """Returns the number in a budget such as 20000 or 20000games; raises UserError for anything else."""
    number = re.fullmatch(r"\s*([1-9][0-9_,]*)\s*(games?)?\s*", str(budget))
    if not number:
        raise UserError(
            f"a budget must be a number of games, such as 20000, or a time, such as 2h or 30min, got {budget!r}."
        )
    games = int(re.sub("[_,]", "", number[1]))
    require_at_most(MAX_GAMES, games, "games of a search")
    return games
