"""Our games as environments of Gymnasium and PettingZoo, for learners written elsewhere.

Importing it registers their ids in Gymnasium; `gymnasium.make("turnier.environments:turnier/2048-v0")` does both.
"""

from ..core.errors import require_extra

require_extra("turnier.environments", "gym", "gymnasium", "pettingzoo")

from .registration import register_environments
from .seats import SeatsEnvironment, env
from .single import GameEnvironment
from .vector import BoardsEnvironment

__all__ = ["BoardsEnvironment", "GameEnvironment", "SeatsEnvironment", "env"]

register_environments()
