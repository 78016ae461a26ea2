"""How agents take seats: failures, and separate processes for agents that are not ours."""
