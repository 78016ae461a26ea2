"""Our games as environments of Gymnasium and PettingZoo, for learners written elsewhere.

To import it registers their ids in Gymnasium; `gymnasium.make("turnier.environments:turnier/2048-v0")` does both.
"""

import importlib.util

from turnier.core.errors import UserError

if not all(importlib.util.find_spec(library) for library in ("gymnasium", "pettingzoo")):
    raise UserError("environments need gymnasium and pettingzoo; install them with: pip install 'turnier[gym]'.")

from turnier.environments.registration import register_environments
from turnier.environments.seats import SeatsEnvironment, env
from turnier.environments.single import GameEnvironment
from turnier.environments.vector import BoardsEnvironment

__all__ = ["BoardsEnvironment", "GameEnvironment", "SeatsEnvironment", "env"]

register_environments()
