"""AlphaZero's loop: a generation of games, then the networks learn from them, again and again.

A generation is played with the networks from its beginning, each game with its own stream of random numbers, and
learned from in the order of its games. A checkpoint holds everything that the next generation depends on. So neither
the number of workers nor a stop changes the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...agents.agent import Agent
from ...agents.evaluator import Evaluator
from ...agents.learning.loop import Stretch, TrainingLoop, require_same
from ...agents.learning.plan import LearningPlan
from ...agents.ntuple.evaluator import NTuple
from ...agents.puct.agent import Puct
from ...agents.puct.self_play import SelfPlay
from ...agents.puct.self_play_kernels import NUM_CHOICES
from ...agents.residual.evaluator import Residual
from ...arena.match import derive_seed
from ...arena.workers.executor import Executor
from ...core.array_files import NetworkFiles, checksum_of, write_learned
from ...core.errors import UserError
from ...core.parameters import parameters_of
from ...games.game import Game
from .games import GAMES_OF_SELF_PLAY, GameSpec, Played
from .model import Model, Savable
from .ntuple_model import NTupleModel
from .residual_model import ResidualModel
from .window import Lessons, Window, targets_of

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    plan: LearningPlan
    model: Model
    done: int  # games
    moves: int
    points: npt.NDArray[np.float64]  # [points, 3] see Points
    window: Window

    def save(self, path: Path) -> None:
        """Writes the whole file, or leaves it unchanged if anything fails."""
        arrays: dict[str, npt.NDArray[Any]] = {"points": self.points, **self.model.arrays()}
        arrays |= {f"window_{name}": array for name, array in self.window.arrays().items()}
        config = {
            "self_play": FORMAT,
            "plan": self.plan.described(),
            "network": self.model.described(),
            "done": self.done,
            "moves": self.moves,
        }
        config["checksum"] = checksum_of(config, arrays)
        write_learned(path, "the checkpoint", {"config": np.array(json.dumps(config)), **arrays})


def load(out: Path, plan: LearningPlan, model: Model, window_size: int) -> Checkpoint:
    """Reads the checkpoint of a plan, and restores its model.

    Raises UserError if the file is damaged or of another plan.
    """
    kept = {name: f"window_{name}" for name in ("moves", *Lessons._fields)}
    config, arrays = FILES.read(out, also=lambda config: ["points", *model.names, *kept.values()])
    require_same(out, config["plan"], plan.described())
    try:
        checksum = config.pop("checksum")
        if checksum_of(config, arrays) != checksum:
            raise ValueError("it differs from its checksum")
        model.restore({name: arrays[name] for name in model.names})
        window, game = Window(window_size), plan.game
        found = {name: arrays[stored] for name, stored in kept.items()}
        window.restore(found, game.state_words, model.outputs, game.kernels.max_choices)
        points = np.array(arrays["points"], np.float64).reshape(-1, 3)
        return Checkpoint(plan, model, int(config["done"]), int(config["moves"]), points, window)
    except (ValueError, TypeError, KeyError) as failure:
        raise FILES.damaged(out, failure) from None


def games_of(out: Path) -> int:
    """Returns the number of games that a checkpoint has learned from."""
    return int(FILES.read(out)[0]["done"])


def _check(config: Mapping[str, Any]) -> None:
    if not isinstance(config["plan"], dict):
        raise TypeError("it has no plan")
    int(config["done"])


FILES = NetworkFiles(
    "a checkpoint of self-play",
    "that `turnier train GAME puct` wrote",
    "train into another file",
    lambda config: config.get("self_play") == FORMAT,
    _check,
)


MODELS: dict[type[Evaluator], type[Model]] = {NTuple: NTupleModel, Residual: ResidualModel}


@dataclass(frozen=True)
class Plan(LearningPlan):
    """Networks that learn from games of a search with them; equal plans give the same weights on any workers."""

    name = "self-play with search"
    key = "agent"
    foreign = ("hours", "begins", "threads", "evaluation_workers")
    rated = True

    game: Game
    search: Puct  # the player; its evaluator is the empty network to be trained
    learning: SelfPlay
    seed: int = 1
    every: int = 1000

    @property
    def learner(self) -> Puct:
        return self.search

    def loop(self, out: Path, games: int, *, threads: int = 1, pool: Any = None) -> SelfPlayLoop:
        return SelfPlayLoop(self, out, games, pool)

    def stored(self, out: Path) -> Mapping[str, Any]:
        return {"done": games_of(out)}

    def agent(self, *files: Path) -> Agent:
        return self.model.agent(self.search, self.learning, files)

    def learned(self, out: Path) -> tuple[Path, ...]:
        return tuple(out.with_suffix(f".{name}.npz") for name in self.model.files)

    def folder(self, out: Path) -> Path:
        return out.with_suffix(".checkpoints")

    def snapshot(self, out: Path, games: int) -> tuple[Path, ...]:
        return tuple(self.folder(out) / f"{games}.{name}.npz" for name in self.model.files)

    def save(self, loop: SelfPlayLoop, weights: Checkpoint, files: Sequence[Path]) -> None:
        for network, path in zip(loop.networks(), files, strict=True):
            if network:
                network.save(path)

    def check(self) -> None:
        game, agent, network = self.game, self.search, self.search.evaluator
        learned = any(getattr(network, name, "") for name in ("file", "stages"))
        if type(network) not in MODELS or learned or agent.policy:
            raise UserError(
                f"puct must learn around an empty n-tuple network without stages, or a residual one, got {agent}; write"
                ' "puct(iterations=100,selection=gumbel,evaluator=ntuple(tuples=20,length=4))".'
            )
        if game.num_seats == 1 or game.has_chance or game.hidden or game.in_python:
            raise UserError(
                f"self-play with search is for compiled games of several seats without chance, got {game}; train an"
                " ntuple on its own."
            )
        if agent.milliseconds:
            raise UserError(f"self-play must be reproducible, got {agent}; give iterations, not milliseconds.")
        for field, _ in parameters_of(type(self.learning)):
            if field.name in self.model.foreign and getattr(self.learning, field.name) != field.default:
                raise UserError(f"self_play around {agent.evaluator} takes no {field.name}; leave it out.")
        agent.require(game)
        self.model.check(game, agent)

    @property
    def model(self) -> type[Model]:
        """The kind of model that learns."""
        return MODELS[type(self.search.evaluator)]

    def new_model(self) -> Model:
        return self.model(self.game, self.search, self.learning, self.seed)

    def choices(self) -> npt.NDArray[np.float64]:
        """Returns the settings for choosing moves, as `play_by_search` reads them."""
        learning = self.learning
        opened = learning.openings, learning.opened
        choices = np.array((learning.full, learning.fast, learning.drawn, *opened), np.float64)
        assert len(choices) == NUM_CHOICES
        return choices


class SelfPlayLoop(TrainingLoop[Checkpoint]):
    """A training by games of a search with the networks; see `TrainingLoop`."""

    plan: Plan
    cure = "with a smaller alpha, policy_alpha or rate"

    def __init__(self, plan: Plan, out: Path, games: int, executor: Executor) -> None:
        super().__init__(plan, out, games)
        self.executor = executor
        self.model = plan.new_model()
        self.window = Window(plan.learning.window)
        if out.exists():
            stored = load(out, plan, self.model, plan.learning.window)
            self.done, self.moves, self.points.sums, self.window = (
                stored.done, stored.moves, stored.points, stored.window,
            )  # fmt: skip
            self.kept = self.done

    @property
    def done_before(self) -> int:
        return max(self.done - self.plan.learning.generation, 0)

    def weights(self) -> Checkpoint:
        return Checkpoint(self.plan, self.model, self.done, self.moves, self.points.sums, self.window)

    def divergence(self, weights: Checkpoint) -> str:
        name = self.model.not_finite()
        return f"what self-play learns must stay finite, got NaN or infinity in {name}" if name else ""

    def networks(self) -> tuple[Savable | None, ...]:
        """Returns the learned networks to play with, one for each of the model's `files`."""
        training = {
            **self.plan.described(),
            "evaluator": self.plan.search.evaluator.full_text(),
            "games": self.games,
            "done": self.done,
            "moves": self.moves,
            "points": self.points.sums.tolist(),
        }
        return self.model.learned(training, self.points.curve())

    def learn(self, stretch: Stretch) -> None:
        while not (stretch.is_over(self) or self.model.not_finite()):
            self._learn(list(self._play(stretch.report)))

    def _play(self, report: Callable[[int], object]) -> Iterator[Played]:
        """Yields the games of the next generation in order."""
        networks = self.model.networks()
        game, agent, choices = self.plan.game.full_text(), self.plan.search.full_text(), self.plan.choices()
        last = min(self.done + self.plan.learning.generation, self.games)
        seeds = {number: derive_seed("self-play", self.plan.seed, number) for number in range(self.done, last)}
        specs = [GameSpec(game, agent, choices, networks, number, seed) for number, seed in seeds.items()]
        played: dict[int, Played] = {}
        for records in self.executor.run(GAMES_OF_SELF_PLAY, specs):
            played |= {record.spec.number: record for record in records}
            report(len(records))
        for spec in specs:
            yield played[spec.number]

    def _learn(self, generation: list[Played]) -> None:
        """Adds the games to the window, and trains the networks on it."""
        learning, to_move, moves = self.plan.learning, self.plan.game.kernels.to_move, 0
        for played in generation:
            movers = np.array([to_move(state) for state in played.states])
            self.window.add(played, targets_of(played, movers, self.model.outputs, learning.found))
            moves += len(played.states)
        lessons = self.window.lessons()
        random = np.random.default_rng([self.plan.seed, self.done])
        order = random.integers(len(lessons.states), size=round(learning.reuse * moves))
        self.model.learn(lessons, order.astype(np.int64), self.done)
        scores = np.array([played.returns for played in generation], np.float32)
        self.points.add(self.done, scores[:, 0])
        self.done += len(generation)
        self.moves += moves
