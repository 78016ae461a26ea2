"""The laws of games, agents, evaluators and samplers, ours and those of others; `turnier check` shows them."""
