"""Options that one training and several share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ...core.errors import MAX_GAMES, MAX_IN_MEMORY, MAX_WORKERS
from ..declared.options import Option

if TYPE_CHECKING:
    from ...agents.agent import Agent
    from ...agents.evaluator import Evaluator

NETWORK = Option(
    'the network, such as "ntuple(network=4x6)" or "dqn(layers=128.64)", or a search that learns, puct; may'
    " be left out if a file is trained further, and for 2048 with hours",
    complete="learner",
)
AGAINST = Option("opponent in evaluations, for games with several seats; default: MCTS", complete="agent")

if TYPE_CHECKING:
    NetworkOption = Annotated[str | Evaluator | Agent, NETWORK]
    AgainstOption = Annotated[str | Agent, AGAINST]
else:  # the same names, without importing agents
    NetworkOption = Annotated[Any, NETWORK]
    AgainstOption = Annotated[Any, AGAINST]
TrainGamesOption = Annotated[
    int | None,
    Option(
        "total number of games, including earlier runs; default: 10,000, or with hours as many as the time allows",
        low=0,
        high=MAX_GAMES,
        more=True,
    ),
]
LearningOption = Annotated[
    str,
    Option(
        'the method, such as "td(alpha=0.1,coherence=false)"; default: td, deep_q or self_play, with parameters'
        " that suit the game and the hours"
    ),
]
LearningThreadsOption = Annotated[
    int, Option("threads that learn at once and share the weights", low=1, high=MAX_WORKERS, more=True)
]
EveryOption = Annotated[int, Option("games per point of the learning curve", low=1, high=MAX_GAMES)]
EvaluateEveryOption = Annotated[int, Option("games between two evaluations; 0 = none", low=0, high=MAX_GAMES)]
EvaluationGamesOption = Annotated[int, Option("games per evaluation, in all seat orders", low=1, high=MAX_IN_MEMORY)]
EvaluationWorkersOption = Annotated[
    int, Option("threads that evaluate during training", low=1, high=MAX_WORKERS, more=True)
]
