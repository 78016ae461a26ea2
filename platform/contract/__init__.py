"""The laws that games, agents, evaluators and samplers keep, ours and those of others; `turnier check` shows them."""
