"""Games, agents, evaluators and samplers of others: named by file or module, known by a digest of their code."""
