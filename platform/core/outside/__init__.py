"""Other people's games, agents, evaluators and samplers: named by file or module, known by a digest of their code."""
