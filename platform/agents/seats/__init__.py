"""How agents take seats: what a failure is, and processes of their own for agents that are not ours."""
